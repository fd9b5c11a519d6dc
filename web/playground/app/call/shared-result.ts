/**
 * A result as a link carries it: its JSON, compressed, in base64url.
 * @module
 */
import { base64 } from "../../base64.js";
import { writeRoute, type Route, toRoute } from "../route.js";
import type { ShownCall, State } from "../state.js";

/** Bytes of JSON that a link may stand for. */
const MAX_JSON = 1_000_000;
/** Characters of the longest result in a link. */
const MAX_PACKED = 8192;
const FORMAT = "deflate-raw";

/** The result for a link; undefined if it is too large for one. */
export async function packResult(json: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const whole = await readLimited(json, MAX_JSON);
  if (whole === undefined) return undefined;
  const small = await readLimited(whole.stream().pipeThrough(new CompressionStream(FORMAT)), MAX_PACKED);
  if (small === undefined) return undefined;
  const text = base64(new Uint8Array(await small.arrayBuffer()));
  const data = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return data.length > MAX_PACKED ? undefined : data;
}

/**
 * The JSON that a link carries.
 * @throws RangeError if it is larger than 1 MB; DOMException or TypeError if it is damaged.
 */
export async function unpackResult(data: string): Promise<Blob> {
  const bytes = Uint8Array.from(atob(data.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  const json = await readLimited(new Blob([bytes]).stream().pipeThrough(new DecompressionStream(FORMAT)), MAX_JSON);
  if (json === undefined) {
    throw new RangeError("The result in this address is larger than 1 MB: ask for it as a file and drop it here.");
  }
  return json;
}

/** The bytes of a stream; undefined if there are more than `most`. The rest is not read. */
async function readLimited(stream: ReadableStream<Uint8Array>, most: number): Promise<Blob | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (const reader = stream.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces);
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => undefined);
      return undefined;
    }
    pieces.push(value.slice());
  }
}

/** A link to a call. */
export interface ShareLink {
  readonly href: string;
  /** What to tell the visitor who copied it. */
  readonly said: string;
}

/** A link that opens a call for everybody: it makes the call again, or carries the result; undefined if that is too large. */
export async function makeLink(
  call: ShownCall,
  state: State,
  raw: (result: string) => Promise<ReadableStream<Uint8Array>>,
): Promise<ShareLink | undefined> {
  const route = toRoute({ ...state, view: "try", call: call.id, preview: undefined });
  if (route.tool !== undefined) return { href: locate(route), said: "The link is copied: it makes this call again." };
  // What is longer than a link may be is not read first.
  if (call.result === undefined || call.result.bytesIn > MAX_JSON) return undefined;
  const result = await packResult(await raw(call.result.id));
  if (result === undefined) return undefined;
  const title = call.title.replace(/\.json$/, "");
  return { href: locate({ view: "try", result, title }), said: "The link is copied: it carries the whole result." };
}

function locate(route: Route): string {
  return new URL(writeRoute(route), location.href).href;
}
