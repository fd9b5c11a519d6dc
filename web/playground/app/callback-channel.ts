/**
 * The address that a provider sent a person back to, told by the callback page.
 * @module
 */
import type { Actions } from "./actions.js";

/** The name of the channel; only pages of this origin hear it. */
export const CALLBACKS = "sluice-callbacks";

/** Hands it to the call that waits. */
export function listenForAnswers(actions: Actions): void {
  const channel = new BroadcastChannel(CALLBACKS);
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "string" && URL.canParse(data)) void actions.signedIn(data);
  });
}
