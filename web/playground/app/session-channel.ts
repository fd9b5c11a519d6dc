/**
 * The end of a session, told to the other tabs that have it open.
 * @module
 */

const channel = new BroadcastChannel("sluice-session");

/** Begins another session in this tab, and in all others. */
export function beginAnew(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  channel.postMessage("ended");
  location.reload();
}

/** Begins another session when one was ended in another tab: nothing of this one is left. */
export function listenForEnd(): void {
  channel.addEventListener("message", () => location.reload());
}
