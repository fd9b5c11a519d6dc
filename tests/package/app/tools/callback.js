// The code is in the address: it is not left in the history, and goes to whoever waits for it in this origin.
const href = location.href;
history.replaceState(null, "", location.pathname);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
new BroadcastChannel("consent").postMessage(href);
close();
