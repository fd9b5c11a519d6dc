/**
 * The library's one object: a gate in front of a store.
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";

/** Configuration of RFC 0.3 §4.2 and §4.4 in its own words; validated by the core. */
export type SluiceConfig = Readonly<Record<string, unknown>>;

/** How a reduced result is written (design §4). */
export type Dialect = "observation" | "mcp";

export interface SluiceOptions {
  /** Where artifacts go; a NoOpArtifactStore (one warning, nothing kept) when left out. */
  readonly store?: ArtifactStore;
  readonly config?: SluiceConfig;
}

/** Which call a result answers. */
export interface TransformOptions {
  readonly tool?: string;
  /** Prefix of artifact ids; `artifact` when left out. */
  readonly namespace?: string;
  readonly scope?: ArtifactScope;
  readonly dialect?: Dialect;
  /** Whether the client is known to show images (`inline_media: "auto"`). */
  readonly clientShowsImages?: boolean;
  /** Reads a resource for `resources.auto_read_if_size_under_bytes`; gives a `resources/read` result. */
  readonly readResource?: (uri: string) => Promise<unknown>;
  readonly signal?: AbortSignal;
}

/** What came of a result. */
export interface Transformed {
  /** JSON text: what the model sees (observation), or a CallToolResult (mcp). */
  readonly text: string;
  /** The same, parsed. */
  readonly value: unknown;
  /** Artifacts stored, in the order they appeared; those of links that were read come last. */
  readonly artifacts: readonly ArtifactRef[];
  /** Whether anything differs from what the server sent. */
  readonly changed: boolean;
  /** Whether the guardrail cut the observation. */
  readonly clamped: boolean;
  /** Bytes of JSON that came in. */
  readonly bytesIn: number;
  /** Bytes of JSON that go out. */
  readonly bytesOut: number;
  /** The entries of `_meta["sluice/refs"]` as JSON text, when the mcp dialect changed something. */
  readonly refs?: string;
}

/** A result on its way through the gate. */
export interface SluiceStream extends AsyncDisposable {
  /** Bytes of JSON text, in chunks of any size. Settles when the store has taken what came out. */
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<Transformed>;
}

export interface Clamp {
  readonly text: string;
  readonly value: unknown;
  readonly changed: boolean;
  /** Unicode code points of JSON text. */
  readonly originalChars: number;
  readonly clampedChars: number;
  readonly method: string;
}

export interface Sniffed {
  readonly mime_type: string;
  readonly extension: string;
  /** e.g. `PNG image, 640 × 480, 1.0 MB` */
  readonly description: string;
}

export interface Sluice {
  /** Reduces a whole result: a CallToolResult, a JSON-RPC response, a content array or any JSON value. */
  transform(result: unknown, options?: TransformOptions): Promise<Transformed>;
  /** The same for bytes of JSON that arrive in pieces. */
  open(options?: TransformOptions): SluiceStream;
  /** The guardrail alone, for a value that any tool returned. */
  clamp(observation: unknown): Clamp;
  /** Gives back what `transform(…, { dialect: "mcp" })` was given. */
  restore(value: unknown, options?: { readonly scope?: ArtifactScope }): Promise<unknown>;
  /** The same as a stream of JSON text, for results that do not fit in memory. */
  restoreStream(json: string, options?: { readonly scope?: ArtifactScope }): AsyncIterable<Uint8Array>;
  /** What kind of file begins with these bytes; `size` is the whole file's when `head` is only its first part. */
  sniff(head: Uint8Array, size?: number): Sniffed;
}
