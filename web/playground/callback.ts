/**
 * Where a provider sends a person back to: hands the address to the playground, and closes.
 * @module
 */
import { CALLBACKS } from "./app/callback-channel.js";

const { href } = location;
// The code is not left in the history.
history.replaceState(null, "", location.pathname);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
new BroadcastChannel(CALLBACKS).postMessage(href);
close();
