/**
 * The page that a provider redirects to: reports its address to the playground and closes.
 * @module
 */
import { CALLBACKS } from "./app/callback-channel.js";

const { href } = location;
// Keep the authorization code out of the history.
history.replaceState(null, "", location.pathname);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
new BroadcastChannel(CALLBACKS).postMessage(href);
close();
