/**
 * Where documents are converted: apart from the main thread, within limits of time, memory and output.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import type { ConversionFacts, ConversionRequest } from "./conversion.js";

/** A conversion with what it reads and writes. */
export interface ConversionTask {
  readonly request: ConversionRequest;
  /** The bytes of the document. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Takes what it becomes, in chunks. */
  readonly write: (chunk: Uint8Array) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/** Converts apart from the main thread. Throws E_DOCUMENT, E_INVALID_ARGUMENT, E_TOO_LARGE, the signal's reason, and what `write` throws. */
export type Sandbox = (task: ConversionTask) => Promise<ConversionFacts>;

/** Largest document that is converted, in bytes. */
export const MAX_INPUT: number = 128 * 1024 * 1024;

/** Most bytes that a document may become. */
export const MAX_OUTPUT: number = 64 * 1024 * 1024;

/** Milliseconds that a conversion may take. */
export const TIME_LIMIT = 60_000;

/** Most bytes of memory that a conversion may use, its program included. */
export const MEMORY_LIMIT: number = 768 * 1024 * 1024;

/** Codes that a conversion may end with. Anything else that it says is not passed on: it could quote the document. */
const CODES = ["E_DOCUMENT", "E_INVALID_ARGUMENT", "E_TOO_LARGE"] as const;

/** What a conversion says when it fails. */
export interface ConversionFailure {
  readonly code: string;
  readonly message: string;
  readonly path?: string;
}

/** What is told of an error. */
export function failureOf(error: unknown): ConversionFailure {
  if (!(error instanceof SluiceError)) return { code: "E_DOCUMENT", message: DAMAGED };
  return { code: error.code, message: error.message, ...(error.path !== undefined && { path: error.path }) };
}

/** The error that was told. */
export function errorOf({ code, message, path }: ConversionFailure): SluiceError {
  const known = CODES.find((each) => each === code);
  if (known === undefined || message === "") return new SluiceError("E_DOCUMENT", DAMAGED);
  return new SluiceError(known, message, path === undefined ? {} : { path });
}

const DAMAGED = "The document cannot be read: it is damaged, or of a kind that is not known.";

/** E_TOO_LARGE for a conversion that went over one of its limits. */
export function overLimit(limit: "time" | "memory" | "output"): SluiceError {
  const sentence = {
    time: `The document takes longer than ${TIME_LIMIT / 1000} seconds to read`,
    memory: "The document takes too much memory to read",
    output: `The document becomes more than ${MAX_OUTPUT / 1024 ** 2} MiB`,
  }[limit];
  return new SluiceError(
    "E_TOO_LARGE",
    `${sentence}. Do not retry: ask for a smaller document, or pass the URI as a tool argument.`,
  );
}
