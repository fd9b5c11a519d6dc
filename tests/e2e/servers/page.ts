/**
 * A page with files, for the servers that drive a browser.
 * @module
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { FILES } from "./folder.js";

/** A page on this machine that shows a photo. */
export interface Page extends AsyncDisposable {
  readonly url: string;
}

/** Evaluated on the page: a file as a data URL. */
export const readFileOnPage = (name: keyof typeof FILES): string => `async () => {
  const blob = await (await fetch("/${name}")).blob();
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(blob);
  });
}`;

const HTML = '<!doctype html><title>Files</title><h1>Files</h1><img src="/photo.png">';

/** Serves the page and the files. */
export async function servePage(): Promise<Page> {
  const server = createServer(({ url = "/" }, response) => {
    const bytes = Object.entries(FILES).find(([name]) => url === `/${name}`)?.[1];
    response.setHeader("content-type", url === "/" ? "text/html" : "application/octet-stream");
    response.end(bytes ?? HTML);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Width and height of a PNG; throws where it is not whole. */
export function pngSize(bytes: Buffer): { readonly width: number; readonly height: number } {
  const isWhole =
    bytes.toString("latin1", 1, 4) === "PNG" && bytes.toString("latin1", bytes.length - 8, bytes.length - 4) === "IEND";
  if (!isWhole) throw new Error("It is no whole PNG.");
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}
