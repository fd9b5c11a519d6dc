/**
 * Files as texts, for tools where there is no path.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { base64Of } from "../mcp/reading/base64.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import type { UserFile } from "./user-file.js";

/** A file as a text, and what room is left for others of the same call: characters. */
export interface DataUri {
  readonly text: string;
  readonly room: number;
}

const FIT = /^[\w.+-]+\/[\w.+-]+$/;

/** `data:text/csv;base64,…` (RFC 2397); the error says what is too large. */
export async function dataUriOf(
  { name, mime_type, size_bytes }: UserFile,
  open: () => Promise<ReadableStream<Uint8Array>>,
  room: number = MAX_MESSAGE,
): Promise<DataUri | SluiceError> {
  const length = Math.ceil(size_bytes / 3) * 4;
  if (length > room) {
    const most = `${MAX_MESSAGE / 1024 / 1024} MiB`;
    return new SluiceError(
      "E_TOO_LARGE",
      `${JSON.stringify(name)} is too large to be handed over as a text: all files of a call have ${most} at most.`,
    );
  }
  const bytes = new Uint8Array(await new Response(await open()).arrayBuffer());
  const type = mime_type !== null && FIT.test(mime_type) ? mime_type : "application/octet-stream";
  return { text: `data:${type};base64,${base64Of(bytes)}`, room: room - length };
}
