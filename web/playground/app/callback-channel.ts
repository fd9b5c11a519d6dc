/**
 * The channel on which the callback page reports the address that a provider redirected to.
 * @module
 */
import type { Actions } from "./actions.js";

/** The name of the BroadcastChannel. */
export const CALLBACKS = "sluice-callbacks";

/** Passes the address to the call that waits for it. */
export function listenForCallbacks(actions: Actions): void {
  const channel = new BroadcastChannel(CALLBACKS);
  channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
    if (typeof data === "string" && URL.canParse(data)) void actions.signedIn(data);
  });
}
