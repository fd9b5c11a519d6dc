/**
 * Where the callback page reports to: pages of this origin alone can listen.
 * @module
 */

/** The name of the BroadcastChannel. */
export const CALLBACKS = "chat-callbacks";
