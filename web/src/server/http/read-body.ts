/**
 * Bodies of requests, which may be too large, too slow, or never end.
 * @module
 */
import type { z } from "zod";
import { untilAborted } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import { inTime } from "./in-time.js";

/** What a body may be. */
export interface BodyLimits {
  /** Bytes. */
  readonly maxBytes: number;
  /** Seconds between two pieces of it. */
  readonly idleSeconds: number;
  /** Seconds for all of it; no bound of its own where left out. */
  readonly totalSeconds?: number;
  /** Bytes a second that there must be on the whole, behind the first {@link GRACE_SECONDS}; left out: any. */
  readonly slowest?: number;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

/** Seconds until a body is held to its rate. */
const GRACE_SECONDS = 30;

/** Bytes of JSON that a request may have. */
const MAX_JSON = 1024 * 1024;

const JSON_LIMITS: BodyLimits = { maxBytes: MAX_JSON, idleSeconds: 10, totalSeconds: 30 };

/** What a body came to that is not taken. */
export class BodyRefused extends SluiceError {
  /** The HTTP status that says so. */
  readonly status: 400 | 408 | 413 | 415;

  constructor(status: BodyRefused["status"], message: string, path?: string) {
    super(status === 413 ? "E_TOO_LARGE" : "E_INVALID_ARGUMENT", message, path === undefined ? {} : { path });
    this.status = status;
  }
}

/** The pieces of a body. Throws BodyRefused where it is too large, or does not come; the signal's reason. */
export async function* bodyPieces(request: Request, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const { maxBytes, idleSeconds, totalSeconds = Infinity, slowest, signal } = limits;
  // Told before the first byte is stored.
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.body === null) return;
  const reader = request.body.getReader();
  const begun = performance.now();
  let bytes = 0;
  const secondsFor = (taken: number): number =>
    Math.min(totalSeconds, slowest === undefined ? Infinity : GRACE_SECONDS + taken / slowest);
  try {
    for (;;) {
      const left = begun + secondsFor(bytes) * 1000 - performance.now();
      const { done, value } = await untilAborted(nextPiece(reader, Math.min(idleSeconds * 1000, left)), signal);
      if (done) return;
      bytes += value.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield value;
    }
  } finally {
    // Whoever sends may never hear of it.
    reader.cancel().catch(() => undefined);
  }
}

/** A body of JSON as it should be. Throws BodyRefused that names the member that is wrong. */
export async function readJson<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const type = request.headers.get("content-type") ?? "";
  // Forms of pages elsewhere cannot send this type without being asked for leave.
  if (!/^application\/json\b/i.test(type))
    throw new BodyRefused(415, "The body must be JSON, with the type application/json.");
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let value: unknown;
  try {
    for await (const piece of bodyPieces(request, JSON_LIMITS)) text += decoder.decode(piece, { stream: true });
    text += decoder.decode();
    value = JSON.parse(text);
  } catch (error) {
    throw error instanceof BodyRefused ? error : new BodyRefused(400, "The body is no JSON in UTF-8.");
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.path.join(".") ?? "";
  throw new BodyRefused(
    400,
    `${path === "" ? "The body" : path} is not as it should be: ${issue?.message ?? ""}.`,
    path,
  );
}

async function nextPiece(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  milliseconds: number,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await inTime(reader.read(), milliseconds, tooSlow);
  } catch (error) {
    throw error instanceof BodyRefused ? error : new BodyRefused(400, "The body broke off: send it again.");
  }
}

function tooSlow(): BodyRefused {
  return new BodyRefused(408, "The body does not come: send it again, faster.");
}

function tooLarge(most: number): BodyRefused {
  return new BodyRefused(413, `The body has more than ${most} bytes, which is all that is taken here.`);
}
