/**
 * Images: as large as they are or smaller, over squares that show what is transparent.
 * @module
 */
import { button, element } from "./element.js";
import { gone, PreviewProblem, WHOLE_LIMIT, type Drawn, type PreviewInput } from "./preview.js";
import { addressOf, isThere, limitFor, mustFit } from "./reading.js";

/** Draws an image, fitted to the space there is until its own size is asked for. */
export async function renderImage(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  mustFit(input, limitFor(input, WHOLE_LIMIT));
  const image = element("img", "image fitted", { alt: input.name, decoding: "async" });
  image.src = await addressOf(input, signal);
  await image.decode().catch(() => {});
  signal.throwIfAborted();
  // Drawings without a size of their own have none here either, and are none the less for it.
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
  if (!(await isThere(input))) return gone();
  return new PreviewProblem(`This browser cannot show it as ${input.type}.`, "source");
}
