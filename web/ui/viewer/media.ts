/**
 * Previews of images, audio and video.
 * @module
 */
import {
  button,
  type Drawn,
  element,
  makeGoneProblem,
  type PreviewInput,
  PreviewProblem,
  WHOLE_LIMIT,
} from "./preview.js";
import { makeAddress, isThere, limitFor, mustFit } from "./artifact-reader.js";

/** Draws a player. At a URL it streams while it plays. */
export async function renderMedia(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const player = element(input.type.startsWith("audio/") ? "audio" : "video", "player", { "aria-label": input.name });
  player.controls = true;
  player.preload = "metadata";
  player.src = await makeAddress(input, signal);
  // A removed player would keep playing and keep its connection.
  signal.addEventListener("abort", () => {
    player.pause();
    player.removeAttribute("src");
    player.load();
  });
  host.append(player);
  const plays = await playable(player, signal);
  signal.throwIfAborted();
  if (plays) return {};
  if (!(await isThere(input))) throw makeGoneProblem();
  throw new PreviewProblem(`This browser cannot play it as ${input.type}.`, "source");
}

async function playable(player: HTMLMediaElement, signal: AbortSignal): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    player.addEventListener("loadedmetadata", () => resolve(true), { signal });
    player.addEventListener("error", () => resolve(false), { signal });
    signal.addEventListener("abort", () => resolve(false), { once: true });
  });
}

/** Draws an image, fitted to the space until its own size is chosen. */
export async function renderImage(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  mustFit(input, limitFor(input, WHOLE_LIMIT));
  const image = element("img", "image fitted", { alt: input.name, decoding: "async" });
  image.src = await makeAddress(input, signal);
  await image.decode().catch(() => {});
  signal.throwIfAborted();
  // An SVG may have no size of its own.
  if (!image.complete || (image.naturalWidth === 0 && !input.type.includes("svg"))) throw await whyNot(input);
  const size = `${image.naturalWidth} × ${image.naturalHeight} pixels`;
  const zooms = [true, false].map((fits) => {
    const zoom = button(fits ? "Fit" : "100 %", () => zoomTo(fits), signal);
    zoom.ariaPressed = String(fits);
    return zoom;
  });
  const zoomTo = (fits: boolean): void => {
    image.classList.toggle("fitted", fits);
    for (const [at, zoom] of zooms.entries()) zoom.ariaPressed = String(fits === (at === 0));
  };
  const bar = element("div", "bar", { role: "group", "aria-label": "Size" }, ...zooms);
  bar.append(element("span", "soft", {}, size));
  const frame = element("div", "frame checkered", {
    tabindex: "0",
    role: "group",
    "aria-label": `Image ${input.name}`,
  });
  frame.append(image);
  host.append(bar, frame);
  return {};
}

async function whyNot(input: PreviewInput): Promise<PreviewProblem> {
  if (!(await isThere(input))) return makeGoneProblem();
  return new PreviewProblem(`This browser cannot show it as ${input.type}.`, "source");
}
