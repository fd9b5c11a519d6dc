/**
 * Addresses of bytes, served by the service worker to this browser alone.
 * @module
 */
import { artifactUrl } from "mcp-sluice/browser";
import { archivePath, type Keys, type Shelf } from "../engine/shelves.js";

/** What opens both shelves, as far as there is somebody who answers. */
export class Addresses {
  readonly #keys: Keys;

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /** Of an artifact; undefined as long as no service worker answers for this page. */
  of(shelf: Shelf, id: string): string | undefined {
    if (!isServed()) return undefined;
    return artifactUrl(this.#keys[shelf], id, { base: document.baseURI });
  }

  /** Of all of My Files, as a ZIP. */
  archive(): string | undefined {
    return isServed() ? new URL(archivePath(this.#keys.files), document.baseURI).href : undefined;
  }
}

function isServed(): boolean {
  return "serviceWorker" in navigator && navigator.serviceWorker.controller !== null;
}
