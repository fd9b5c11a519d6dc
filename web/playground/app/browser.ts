/**
 * What the page keeps and shares outside itself: local storage, addresses of bytes, other tabs, and the service worker.
 * @module
 */
import { artifactUrl } from "mcp-sluice/browser";
import { archivePath, isServed, type Keys, toServedPath, type Shelf } from "../engine/shelves.js";
import type { Store } from "./state.js";

/** Whether shortcuts are pressed with ⌘. */
export const IS_APPLE: boolean = /Mac|iPhone|iPad/.test(navigator.platform);

type Key = "config" | "price" | "theme" | "keys" | "drawer" | "model" | "session" | "memory";

/** Reads a value from local storage; undefined if there is none or it cannot be read. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller stored it and knows its type
export function readRemembered<T>(key: Key): T | undefined {
  try {
    const text = localStorage.getItem(`sluice.${key}`);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

/** Writes a value to local storage; undefined removes it. */
export function remember(key: Key, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(`sluice.${key}`);
    else localStorage.setItem(`sluice.${key}`, JSON.stringify(value));
  } catch {
    // Private windows may forbid local storage.
  }
}

/** The base URL of the server that this page comes from, ending with `/`; undefined on a static site. */
export function serverOfPage(): string | undefined {
  const said = document.querySelector<HTMLMetaElement>('meta[name="sluice-server"]')?.content;
  return said === undefined ? undefined : new URL(said, document.baseURI).href;
}

/** URLs of stored bytes, which the service worker or the page's server serves. */
export class Addresses {
  readonly #keys: Keys;

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /** The URL of an artifact; undefined when it is in this browser and no service worker controls the page. */
  of(shelf: Shelf, id: string): string | undefined {
    if (isServed(shelf)) return new URL(toServedPath(shelf, id), serverOfPage()).href;
    if (!isControlled()) return undefined;
    return artifactUrl(this.#keys[shelf], id, { base: document.baseURI });
  }

  /** The URL of My Files as a ZIP; undefined without a service worker. */
  archive(): string | undefined {
    return isControlled() ? new URL(archivePath(this.#keys.files), document.baseURI).href : undefined;
  }
}

function isControlled(): boolean {
  return "serviceWorker" in navigator && navigator.serviceWorker.controller !== null;
}

const channel = new BroadcastChannel("sluice-session");

/** Tells all other tabs that the session ended. */
export function tellEnd(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  channel.postMessage("ended");
}

/** Calls `ended` when another tab ended the session. */
export function listenForEnd(ended: () => void): void {
  channel.addEventListener("message", ended);
}

/** The service worker's file, beside the page. */
const FILE = "sw.js";

/** Registers the service worker, if there can be one, and marks the state when a newer version is ready. */
export async function registerServiceWorker(store: Store): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const { serviceWorker } = navigator;
  // Another tab may have installed a newer version: links to bytes are rendered again.
  serviceWorker.addEventListener("controllerchange", () => store.set({}));
  await register(serviceWorker, store).catch(() => undefined);
}

async function register(serviceWorker: ServiceWorkerContainer, store: Store): Promise<void> {
  const registration = await serviceWorker.register(new URL(FILE, document.baseURI));
  const look = (): void => {
    if (registration.waiting !== null && serviceWorker.controller !== null) store.set({ isOutdated: true });
  };
  look();
  registration.addEventListener("updatefound", () => registration.installing?.addEventListener("statechange", look));
}

/** Activates the newer version and reloads the page. */
export async function takeUpdate(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  if (registration?.waiting == null) return;
  navigator.serviceWorker.addEventListener("controllerchange", () => location.reload(), { once: true });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker is of this origin
  registration.waiting.postMessage("take over");
}
