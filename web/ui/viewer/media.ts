/**
 * Audio and video, with the browser's own controls.
 * @module
 */
import { element } from "./element.js";
import { gone, PreviewProblem, type Drawn, type PreviewInput } from "./preview.js";
import { addressOf, isThere } from "./reading.js";

/** Draws a player. It reads on its own as it plays, where the bytes have an address. */
export async function renderMedia(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const player = element(input.type.startsWith("audio/") ? "audio" : "video", "player", { "aria-label": input.name });
  player.controls = true;
  player.preload = "metadata";
  player.src = await addressOf(input, signal);
  // A player that left the document would go on, and would keep its address busy.
  signal.addEventListener("abort", () => {
    player.pause();
    player.removeAttribute("src");
    player.load();
  });
  host.append(player);
  const plays = await playable(player, signal);
  signal.throwIfAborted();
  if (plays) return {};
  if (!(await isThere(input))) throw gone();
  throw new PreviewProblem(`This browser cannot play it as ${input.type}.`, "source");
}

async function playable(player: HTMLMediaElement, signal: AbortSignal): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    player.addEventListener("loadedmetadata", () => resolve(true), { signal });
    player.addEventListener("error", () => resolve(false), { signal });
    signal.addEventListener("abort", () => resolve(false), { once: true });
  });
}
