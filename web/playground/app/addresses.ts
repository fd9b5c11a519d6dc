/**
 * Addresses of bytes, served by the service worker to this browser alone.
 * @module
 */
import { artifactUrl } from "mcp-sluice/browser";
import { isServed, servedPath } from "../engine/serve/address.js";
import { archivePath, type Keys, type Shelf } from "../engine/shelves.js";

/** Where the server is that this page comes from, ends with `/`; undefined for a page of a static site. */
export function serverOfPage(): string | undefined {
  const said = document.querySelector<HTMLMetaElement>('meta[name="sluice-server"]')?.content;
  return said === undefined ? undefined : new URL(said, document.baseURI).href;
}

/** What opens all shelves, as far as there is somebody who answers. */
export class Addresses {
  readonly #keys: Keys;

  constructor(keys: Keys) {
    this.#keys = keys;
  }

  /** Of an artifact; undefined as long as no service worker answers for this page, which serves what this browser keeps. */
  of(shelf: Shelf, id: string): string | undefined {
    if (isServed(shelf)) return new URL(servedPath(shelf, id), serverOfPage()).href;
    if (!isAnswering()) return undefined;
    return artifactUrl(this.#keys[shelf], id, { base: document.baseURI });
  }

  /** Of all of My Files, as a ZIP. */
  archive(): string | undefined {
    return isAnswering() ? new URL(archivePath(this.#keys.files), document.baseURI).href : undefined;
  }
}

function isAnswering(): boolean {
  return "serviceWorker" in navigator && navigator.serviceWorker.controller !== null;
}
