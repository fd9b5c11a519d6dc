/**
 * The page: starts the engine in its worker and shows what it does.
 * @module
 */
import { wrap } from "comlink";
import { Actions } from "./app/actions.js";
import { serverOfPage } from "./app/addresses.js";
import { listenForAnswers } from "./app/callback-channel.js";
import { Playground } from "./app/playground.js";
import { remembered } from "./app/memory.js";
import { listenForEnd } from "./app/session-channel.js";
import { Store, type Theme } from "./app/state.js";
import { registerServiceWorker } from "./app/updates.js";
import type { Engine } from "./engine/contract.js";

const worker = new Worker(new URL("./engine/worker.ts", import.meta.url), { type: "module", name: "engine" });
const store = new Store();
const actions = new Actions(wrap<Engine>(worker), store);

store.set({ theme: remembered<Theme>("theme") ?? "system", isOnline: navigator.onLine });
for (const kind of ["online", "offline"]) {
  addEventListener(kind, () => store.set({ isOnline: navigator.onLine }));
}

document.body.append(Object.assign(new Playground(), { store, actions }));

listenForAnswers(actions);
listenForEnd();
await actions.start();
const server = serverOfPage();
if (server !== undefined) {
  void import("./app/serve/serving.js").then(({ Serving }) => {
    actions.serving = new Serving(server, actions, store);
    return actions.serving.begin();
  });
}
// It fetches the whole site: after what a visitor waits for.
registerServiceWorker(store);
