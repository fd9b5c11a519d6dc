/**
 * The page that the provider sends the person back to: tells the chat the address that it was called with, and closes.
 * @module
 */
import { CALLBACKS } from "./callback-channel.js";

const { href } = location;
// The code in it is of use once, and is none of the history's business.
history.replaceState(null, "", location.pathname);
const channel = new BroadcastChannel(CALLBACKS);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
channel.postMessage(href);
close();
