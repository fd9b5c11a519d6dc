/**
 * Reads requests: bodies, which may be too large, too slow or endless, uploads, queries and paths.
 * @module
 */
import { z } from "zod";
import { untilAborted } from "../../core/abort.js";
import { groupDigits } from "../../core/amounts.js";
import { alternatives } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import type { JsonRpcScanner } from "../../jsonrpc/json-rpc-scanner.js";
import { BoundedMessage } from "../../mcp/stdio/lines.js";
import { parseEssence, UNKNOWN_TYPE } from "./headers.js";
import { inTime } from "./time-limit.js";

/** The limits of a body. */
export interface BodyLimits {
  /** Most bytes. */
  readonly maxBytes: number;
  /** Most seconds between two pieces. */
  readonly idleSeconds: number;
  /** Most seconds for the whole body. Unlimited by default. */
  readonly totalSeconds?: number;
  /** Least average bytes per second, after the first {@link GRACE_SECONDS}. Unlimited by default. */
  readonly slowest?: number;
  /** Aborts reading. */
  readonly signal?: AbortSignal;
}

/** Seconds before the least rate applies. */
const GRACE_SECONDS = 30;

/** Most bytes of a JSON body. */
export const MAX_JSON: number = 1024 * 1024;

const JSON_LIMITS: BodyLimits = { maxBytes: MAX_JSON, idleSeconds: 10, totalSeconds: 30 };

/** A body or a parameter that is refused. */
export class BodyRefused extends SluiceError {
  /** The HTTP status. */
  readonly status: 400 | 408 | 413 | 415;

  constructor(status: BodyRefused["status"], message: string, path?: string) {
    super(status === 413 ? "E_TOO_LARGE" : "E_INVALID_ARGUMENT", message, path === undefined ? {} : { path });
    this.status = status;
  }
}

/** The pieces of a body. Throws BodyRefused if it is too large, too slow or breaks off, and the signal's reason. */
export async function* bodyPieces(request: Request, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const { maxBytes, idleSeconds, totalSeconds = Infinity, slowest, signal } = limits;
  // Refused before the first byte is stored.
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
      if (done) {
        if (isCutShort(request, bytes)) throw toIncompleteError();
        return;
      }
      bytes += value.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield value;
    }
  } finally {
    // The sender may not react to it.
    reader.cancel().catch(() => undefined);
  }
}

/** A message that is too large to be sent on is still read far enough to answer it. */
const MESSAGE_LIMITS: BodyLimits = { maxBytes: 64 * 1024 * 1024, idleSeconds: 30, totalSeconds: 300 };

/** A body that is a message of MCP, or a scan of one that is too large to forward. Undefined if it is empty. Throws BodyRefused. */
export async function readMessage(request: Request): Promise<Uint8Array | JsonRpcScanner | undefined> {
  const held = new BoundedMessage();
  for await (const piece of bodyPieces(request, MESSAGE_LIMITS)) held.push(piece);
  const whole = held.whole();
  return whole === undefined ? held.members : whole.length === 0 ? undefined : whole;
}

/** Reads a JSON body. Throws BodyRefused with the member that is wrong. */
export async function readJson<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const type = request.headers.get("content-type") ?? "";
  // Forms of other sites cannot send this type without a preflight request.
  if (!/^application\/json\b/i.test(type))
    throw new BodyRefused(415, "The body must be JSON: send it with Content-Type: application/json.");
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let value: unknown;
  try {
    for await (const piece of bodyPieces(request, JSON_LIMITS)) text += decoder.decode(piece, { stream: true });
    text += decoder.decode();
    value = JSON.parse(text);
  } catch (error) {
    throw error instanceof BodyRefused ? error : new BodyRefused(400, "The body is not JSON in UTF-8: correct it.");
  }
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.path.join(".") ?? "";
  throw new BodyRefused(400, writeSentence(path === "" ? "The body" : path, issue, value), path);
}

/** What is wrong with a value of a body or a query. Never quotes it. */
function writeSentence(what: string, issue: z.core.$ZodIssue | undefined, value: unknown): string {
  if (issue?.code === "unrecognized_keys") {
    return `${what} has no key ${alternatives(issue.keys.map((key) => quoteKey(key)))}: leave it out.`;
  }
  if (issue === undefined || issue.code === "custom") return `${what} is not valid: ${issue?.message ?? "correct it"}.`;
  const found = issue.path.reduce<unknown>((at, key) => Reflect.get(Object(at), key), value);
  return found === undefined ? `${what} is missing.` : `${what} must be ${describeExpected(issue)}.`;
}

/** Longest name of an unknown key in an error. */
const MAX_SHOWN = 64;

function quoteKey(key: string): string {
  return JSON.stringify(key.slice(0, MAX_SHOWN));
}

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a whole number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

const UNITS: Readonly<Record<string, string>> = { string: " characters", array: " entries" };

/** What a value must be, as the words after "must be". */
export function describeExpected(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type" && issue.message.startsWith("Invalid input")) {
    return KINDS[issue.expected] ?? "something else";
  }
  if (issue.code === "too_small" || issue.code === "too_big") {
    const kind = KINDS[issue.origin] ?? "something";
    const unit = UNITS[issue.origin] ?? "";
    if (issue.code === "too_big") return `${kind} of at most ${groupDigits(Number(issue.maximum))}${unit}`;
    return issue.minimum === 1 && unit !== ""
      ? `${kind} that is not empty`
      : `${kind} of at least ${issue.minimum}${unit}`;
  }
  if (issue.code === "invalid_value") return alternatives(issue.values.map((each) => JSON.stringify(each)));
  if (issue.code === "invalid_key") return "an object without empty names";
  return issue.message;
}

async function nextPiece(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  milliseconds: number,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await inTime(reader.read(), milliseconds, tooSlow);
  } catch (error) {
    throw error instanceof BodyRefused ? error : toIncompleteError();
  }
}

/** Whether less came than was to come. Of a client that has left before, Node's stream only ends. */
function isCutShort({ headers, signal }: Request, bytes: number): boolean {
  const length = headers.get("content-length");
  return length === null ? signal.aborted : bytes < Number(length);
}

function toIncompleteError(): BodyRefused {
  return new BodyRefused(400, "The body ended early: send it again.");
}

function tooSlow(): BodyRefused {
  return new BodyRefused(408, "The body arrived too slowly: send it again.");
}

function tooLarge(most: number): BodyRefused {
  return new BodyRefused(413, `The body has more than ${groupDigits(most)} bytes, the limit here: send less.`);
}

/** Most characters of a trace name. */
const MAX_TRACE = 200;

/** The name of a trace within a session. */
export const TRACE: z.ZodType<string> = z
  .string()
  .min(1)
  .max(MAX_TRACE)
  .refine((trace) => trace !== "*", "* stands for all traces and cannot be the name of one")
  // Stored as UTF-8 it would come back as another name, under which the artifacts are never found.
  .refine((trace) => !/\p{Cs}/u.test(trace), "it must be valid Unicode, without lone surrogates")
  // What JSON Schema says of it without code.
  .meta({ not: { const: "*" } });

/**
 * Reads the query. Of parameters with the same name the first counts, and unknown ones are ignored. Throws
 * BodyRefused with the parameter that is wrong.
 */
export function readQuery<T>(request: Request, schema: z.ZodType<T>): T {
  const said: Record<string, string> = {};
  for (const [name, value] of new URL(request.url).searchParams) if (!Object.hasOwn(said, name)) said[name] = value;
  return checkParts(said, schema, (name) => `The parameter ${name}`);
}

function checkParts<T>(
  said: Readonly<Record<string, string>>,
  schema: z.ZodType<T>,
  what: (name: string) => string,
): T {
  const read = schema.safeParse(said);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? "");
  throw new BodyRefused(400, writeSentence(what(name), issue, said), name);
}

/** Most UTF-16 units of a path: more than any valid one. */
const MAX_PATH = 32_768;

/**
 * Reads the parts of the path that have names in its form, such as `/:namespace/:uri`. The path is split before it is
 * decoded, since a part may contain slashes.
 *
 * @throws BodyRefused 400 with the part that is wrong, if one is no percent-encoded UTF-8, or the path is too long.
 */
export function readPath<T>(request: Request, form: string, schema: z.ZodType<T>): T {
  const { pathname } = new URL(request.url);
  if (pathname.length > MAX_PATH) throw new BodyRefused(400, `The address is longer than ${MAX_PATH} characters.`);
  const names = form.split("/").slice(1);
  // What stands before it is where it is mounted.
  const parts = pathname.replace(/\/$/, "").split("/").slice(-names.length);
  const said: Record<string, string> = {};
  for (const [at, name] of names.entries()) if (name.startsWith(":")) said[name.slice(1)] = decodePart(parts[at] ?? "");
  return checkParts(said, schema, (name) => `The part ${name} of the address`);
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new BodyRefused(
      400,
      "The address has a % that does not encode UTF-8: percent-encode each part once, as a whole.",
    );
  }
}

/** Most characters of a file name. */
export const MAX_FILENAME = 1024;

/** Least bytes per second of an upload: any line has more. */
const SLOWEST = 4096;

/** Content types that clients send by default. */
const UNSAID: ReadonlySet<string> = new Set([UNKNOWN_TYPE, "application/x-www-form-urlencoded"]);

/** The declared type of an upload, or null. Throws BodyRefused for forms and encoded bodies. */
export function readDeclaredType({ headers }: Request): string | null {
  const coding = headers.get("content-encoding");
  if (coding !== null && coding.trim().toLowerCase() !== "identity") {
    throw new BodyRefused(415, "The body must be the plain bytes, without Content-Encoding.");
  }
  const type = parseEssence(headers.get("content-type"));
  if (type?.startsWith("multipart/") === true) {
    throw new BodyRefused(415, "The body must be the plain bytes, not a form: give the name in ?filename=.");
  }
  return type === null || UNSAID.has(type) ? null : type;
}

/** The pieces of an upload. Throws BodyRefused if it is too large, too slow or breaks off, and the signal's reason. */
export function readUpload(
  request: Request,
  limits: Pick<BodyLimits, "maxBytes" | "idleSeconds" | "signal">,
): AsyncGenerator<Uint8Array> {
  return bodyPieces(request, { ...limits, slowest: SLOWEST });
}
