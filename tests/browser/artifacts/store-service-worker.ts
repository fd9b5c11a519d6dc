/** A service worker with a store: it answers over the port that a message brings. */
import { serve } from "./serving.js";

globalThis.addEventListener("message", ({ ports }: MessageEvent) => {
  for (const port of ports) serve(port);
});
