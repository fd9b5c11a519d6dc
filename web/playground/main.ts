/**
 * The entry of the page: starts the engine in a worker and shows the playground.
 * @module
 */
import sans from "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2?url";
import mono from "@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2?url";
import { wrap } from "comlink";
import { Actions } from "./app/actions.js";
import { listenForEnd, registerServiceWorker, readRemembered, serverOfPage } from "./app/browser.js";
import { listenForCallbacks } from "./app/callback-channel.js";
import { allowPdf } from "./app/pdf.js";
import { AddressBar, parseRoute } from "./app/route.js";
import { Playground } from "./app/shell/playground.js";
import { Store, type Theme } from "./app/state.js";
import type { Engine } from "./engine/messages.js";

const worker = new Worker(new URL("./engine/worker.ts", import.meta.url), { type: "module", name: "engine" });
const store = new Store();
const actions = new Actions(wrap<Engine>(worker), store);

store.set({ theme: readRemembered<Theme>("theme") ?? "system", isOnline: navigator.onLine });
for (const kind of ["online", "offline"]) {
  addEventListener(kind, () => store.set({ isOnline: navigator.onLine }));
}

const playground = Object.assign(new Playground(), { store, actions });
const still = document.querySelector(".still");
// It is a picture of the first result, which another address does not show.
if (still !== null && /^(?:#\/(?:try)?)?$/.test(location.hash)) playground.append(still);
else still?.remove();
document.body.append(playground);

listenForCallbacks(actions);
listenForEnd(() => void actions.end(true));
void begin();

/**
 * Shows what the address names, and loads the rest behind it. A function of its own: a module that waits at its top level keeps every
 * module waiting that imports it, and what is loaded here may.
 */
async function begin(): Promise<void> {
  await actions.start(parseRoute(location.hash));
  new AddressBar(store, (route) => void actions.open(route)).begin();
  await actions.first();
  await waitForSight();
  // The first result waits neither for letters, for which `page.css` has a font of the system in the same size, nor for what few look at.
  allowPdf();
  const fonts = [addFont("Geist", sans), addFont("Geist Mono", mono)];
  void import("./app/call/share-menu.js");
  void import("./app/shell/tooltip.js").then(({ Tooltip }) => document.body.append(new Tooltip()));
  await Promise.all(fonts);
  await actions.connectServers();
  const server = serverOfPage();
  if (server !== undefined) {
    void import("./app/page-server.js").then(({ PageServer }) => {
      actions.pageServer = new PageServer(server, actions, store);
      return actions.pageServer.begin();
    });
  }
  // The service worker fetches the whole site, so it starts after the first result.
  await registerServiceWorker(store);
  await actions.follow();
}

/** Waits until what was rendered can be seen. */
async function waitForSight(): Promise<void> {
  if ("requestIdleCallback" in globalThis)
    await new Promise((seen) => void requestIdleCallback(seen, { timeout: MOST }));
  await new Promise((seen) => void setTimeout(seen, PAINT));
}

/** Milliseconds for which a busy page is waited for, and for a picture to come to the screen. */
const [MOST, PAINT] = [2000, 200];

/** A variable font of Latin letters; others come from the system. Resolves when it is there, or is not to be had. */
async function addFont(family: string, url: string): Promise<void> {
  const font = new FontFace(family, `url("${url}")`, { weight: "100 900", display: "swap" });
  document.fonts.add(font);
  // Without it the system's font stays.
  await font.load().catch(() => undefined);
}
