/**
 * Where documents are converted: apart from the main thread, within limits of time, memory and output.
 * @module
 */
import { untilEither } from "../core/abort.js";
import type { DocumentModules } from "../core/engine.js";
import { Semaphore } from "../core/semaphore.js";
import { SluiceError } from "../errors/error.js";
import type { ConversionFacts, ConversionRequest } from "./conversion.js";

/** A conversion with what it reads and writes. */
export interface ConversionTask {
  readonly request: ConversionRequest;
  /** The bytes of the document. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Takes what it becomes, in chunks. */
  readonly write: (chunk: Uint8Array) => Promise<void>;
  readonly limits?: Partial<ConversionLimits>;
  /** Compiled modules, for runtimes that compile none. */
  readonly modules?: DocumentModules | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Converts apart from the main thread. Throws E_DOCUMENT, E_INVALID_ARGUMENT, E_TOO_LARGE, the signal's reason, and what `write` throws. */
export type Sandbox = (task: ConversionTask) => Promise<ConversionFacts>;

/** Largest document that is converted, in bytes. */
export const MAX_INPUT: number = 128 * 1024 * 1024;

/** The bytes of a document. Throws E_TOO_LARGE beyond `most`. */
export async function collectBytes(
  input: AsyncIterable<Uint8Array>,
  most: number = MAX_INPUT,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    size += chunk.length;
    if (size > most) throw overLimit("memory");
    chunks.push(chunk.slice());
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** Limits of a conversion. */
export interface ConversionLimits {
  /** Most bytes that a document may become. */
  readonly output: number;
  /** Milliseconds that a conversion may take. */
  readonly time: number;
  /** Most bytes of memory that a conversion may use, its program included. A web worker has no such limit. */
  readonly memory: number;
}

/** The usual limits. */
export const LIMITS: ConversionLimits = { output: 64 * 1024 * 1024, time: 60_000, memory: 768 * 1024 * 1024 };

/** Conversions that run at a time in one process, for all callers: each may use all of its memory. */
const AT_A_TIME = 4;

/** Milliseconds that a conversion waits for its turn. Few hosts wait longer for an answer. */
const MAX_WAIT = 60_000;

const turns = new Semaphore(AT_A_TIME);

/** Runs a conversion when its turn comes. Throws what it throws, the signal's reason, and E_RATE_LIMIT if no turn came in a minute. */
export async function inTurn<T>(
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
  most: number = MAX_WAIT,
): Promise<T> {
  const waited = new AbortController();
  const late = (): void => {
    waited.abort(
      new SluiceError("E_RATE_LIMIT", "Other documents are still being read: wait a minute, then call again."),
    );
  };
  const limit = setTimeout(late, most);
  return untilEither([signal, waited.signal], (either) =>
    turns.run(() => {
      clearTimeout(limit);
      return work();
    }, either),
  ).finally(() => clearTimeout(limit));
}

/** Codes that a conversion may end with. Anything else that it says is not passed on: it could quote the document. */
const CODES = ["E_DOCUMENT", "E_INVALID_ARGUMENT", "E_TOO_LARGE"] as const;

/** What a conversion says when it fails. */
export interface ConversionFailure {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
}

/** What is told of an error. */
export function toFailure(error: unknown): ConversionFailure {
  if (!(error instanceof SluiceError)) return { code: "E_DOCUMENT", message: DAMAGED };
  return { code: error.code, message: error.message, ...(error.path !== undefined && { path: error.path }) };
}

/** The error that was told. */
export function toError({ code, message, path }: ConversionFailure): SluiceError {
  const known = CODES.find((each) => each === code);
  if (known === undefined || message === "") return new SluiceError("E_DOCUMENT", DAMAGED);
  return new SluiceError(known, message, path === undefined ? {} : { path });
}

const DAMAGED = "The document cannot be read: it is damaged, or of a kind that is not known.";

/** E_TOO_LARGE for a conversion that went over one of its limits. */
export function overLimit(limit: keyof ConversionLimits): SluiceError {
  const sentence = {
    time: "The document takes too long to read",
    memory: "The document takes too much memory to read",
    output: "The document becomes too much text",
  }[limit];
  // Other work on the machine may have taken the time.
  const again = limit === "time" ? "Retry once, then" : "Do not retry:";
  return new SluiceError(
    "E_TOO_LARGE",
    `${sentence}. ${again} ask for a smaller document, or pass the URI as a tool argument.`,
  );
}
