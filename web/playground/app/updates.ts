/**
 * The service worker: serves bytes by address, and the page itself where there is no network.
 * @module
 */
import type { Store } from "./state.js";

/** The file beside the page. */
const FILE = "sw.js";

/** Registers it, and tells of a newer version that waits. */
export function registerServiceWorker(store: Store): void {
  if (!("serviceWorker" in navigator)) return;
  const { serviceWorker } = navigator;
  register(serviceWorker, store).catch(() => undefined);
  // What was replaced while the page stood open: the page of the newer version is taken with the next visit.
  serviceWorker.addEventListener("controllerchange", () => store.set({}));
}

async function register(serviceWorker: ServiceWorkerContainer, store: Store): Promise<void> {
  const registration = await serviceWorker.register(new URL(FILE, document.baseURI));
  const look = (): void => {
    if (registration.waiting !== null && serviceWorker.controller !== null) store.set({ isOutdated: true });
  };
  look();
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", look));
}

/** Takes over the version that waits, and loads the page anew. */
export async function takeUpdate(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  if (registration?.waiting == null) return;
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker is of this origin
  registration.waiting.postMessage("take over");
}
