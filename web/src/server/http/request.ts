/**
 * What a request brings: its body, which may be too large, too slow, or never end, a file in it, its query, and the segments of its
 * address.
 * @module
 */
import { z } from "zod";
import { untilAborted } from "../../core/abort.js";
import { SluiceError } from "../../errors/error.js";
import { essenceOf, UNKNOWN_TYPE } from "../artifacts/headers.js";
import { inTime } from "./time-limit.js";

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

/** Characters that the name of a trace may have. */
const MAX_TRACE = 200;

/** A run within a session, as callers name it. */
export const TRACE: z.ZodType<string> = z
  .string()
  .min(1)
  .max(MAX_TRACE)
  .refine((trace) => trace !== "*", "* names all traces, and is the name of none")
  // What is kept as UTF-8 comes back as another one, whose artifacts nobody would find.
  .refine((trace) => !/\p{Cs}/u.test(trace), "it must be Unicode, without halves of pairs");

/** The parameters as they should be, each the first of its name; others are ignored. Throws BodyRefused that names the one that is wrong. */
export function readQuery<T>(request: Request, schema: z.ZodType<T>): T {
  const said: Record<string, string> = {};
  for (const [name, value] of new URL(request.url).searchParams) if (!Object.hasOwn(said, name)) said[name] = value;
  const read = schema.safeParse(said);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? "");
  throw new BodyRefused(400, `The parameter ${name} is not as it should be: ${issue?.message ?? ""}.`, name);
}

/** UTF-16 units of an address that are looked at: more than any that leads somewhere. */
const MAX_PATH = 32_768;

/**
 * The segments behind `{base}{folder}/`. Nothing is decoded before it is taken apart: a segment may have slashes in it.
 *
 * @throws BodyRefused 400 where one is no percent-encoded UTF-8, or all are too long.
 */
export function segmentsOf(request: Request, base: string, folder: string): readonly string[] {
  const { pathname } = new URL(request.url);
  const rest = pathname.slice(base.length + folder.length + 1);
  if (rest.length > MAX_PATH) throw new BodyRefused(400, `The address is longer than ${MAX_PATH} characters.`);
  try {
    return rest.split("/").map(decodeURIComponent);
  } catch {
    throw new BodyRefused(
      400,
      "The address has a % in it that encodes no UTF-8: encode each part of it once, as a whole.",
    );
  }
}

/** Characters that a name may have. */
export const MAX_FILENAME = 1024;

/** Bytes a second that an upload must come to: a line of the slowest kind has more. */
const SLOWEST = 4096;

/** What clients send who do not say what they send. */
const UNSAID: ReadonlySet<string> = new Set([UNKNOWN_TYPE, "application/x-www-form-urlencoded"]);

/** What a client says that the bytes are; null where it does not. Throws BodyRefused for a form, and for what is encoded. */
export function declaredType({ headers }: Request): string | null {
  const coding = headers.get("content-encoding");
  if (coding !== null && coding.trim().toLowerCase() !== "identity") {
    throw new BodyRefused(415, "The body must be the bytes as they are, without Content-Encoding.");
  }
  const type = essenceOf(headers.get("content-type"));
  if (type?.startsWith("multipart/") === true) {
    throw new BodyRefused(415, "The body must be the bytes as they are, not a form: put the name into ?filename=.");
  }
  return type === null || UNSAID.has(type) ? null : type;
}

/** The pieces of an upload. Throws BodyRefused where it is too large, too slow, or breaks off; the signal's reason. */
export function uploadedPieces(
  request: Request,
  limits: Pick<BodyLimits, "maxBytes" | "idleSeconds" | "signal">,
): AsyncGenerator<Uint8Array> {
  return bodyPieces(request, { ...limits, slowest: SLOWEST });
}
