/**
 * The fields of the tool output contract of MCP 2.1 with user storage, as the core gives them. Names are those of the
 * specification.
 * @module
 */
import type { WasmSource } from "./sluice.js";

/**
 * An object of the tool's own (§1.1). Where it was too large to stand in a reduced answer it is a string instead: the
 * reference to it, `artifact://…?type=application/json&size=…`.
 */
export type ContractObject = Readonly<Record<string, unknown>> | string;

/** What a file is for (§6.1). */
export type FileCategory = "report" | "dataset" | "visualization" | "draft";

/** How a file is shown (§6.1). */
export type FileViewer = "image" | "pdf" | "html" | "code" | "data";

/** Why a file is not yet done (§7.1). */
export type DeferredReason = "needs_editing" | "draft" | "incomplete" | "awaiting_approval";

/** What a tool answers (§1.1). */
export interface ToolContract {
  /** The concise result for model and user; empty where the tool gave none, and `{ result }` of anything but an object. */
  readonly results: ContractObject;
  /** Small facts beside it: metrics, parameters, provenance. */
  readonly meta_data?: ContractObject;
  /** Whether the call may be made again. */
  readonly retryable?: boolean;
  /** The files that it made, at most 256; empty where there are none. */
  readonly artifacts: readonly ContractArtifact[];
  /** Files that are not yet done, at most 256; empty where there are none. */
  readonly deferred_artifacts: readonly DeferredArtifact[];
  /** How to show them; the defaults where the tool says nothing. */
  readonly display: Display;
}

/** A file that a tool made (§6.1). It has `b64` or `path`, never both. */
export interface ContractArtifact {
  /** As the tool calls it: 1 to 1,024 characters of any kind. */
  readonly name: string;
  /**
   * The bytes in base64, in the standard alphabet with padding; or, where the core diverted them, the reference to them,
   * which begins with `artifact://`. Whether the caller may read what it names is not checked here.
   */
  readonly b64?: string;
  /** The file on the server's machine: 1 to 4,096 characters, otherwise as the tool wrote it. */
  readonly path?: string;
  /** The media type: `type/subtype` in lower case, and its parameters; left out where the tool gave none. */
  readonly mime?: string;
  /** One line for people, at most 2,000 characters, none of them hidden. */
  readonly description?: string;
  /** How to show it. */
  readonly viewer?: FileViewer;
  /** What it is for. */
  readonly category?: FileCategory;
  /** Whether to show it at once. */
  readonly auto_open: boolean;
}

/** A file that is kept for later and not part of the answer (§7.1). It has `path` or `b64`, never both. */
export interface DeferredArtifact {
  /** As the tool calls it: 1 to 1,024 characters of any kind. */
  readonly name: string;
  /** The bytes, as of a {@link ContractArtifact}. */
  readonly b64?: string;
  /** The file on the server's machine: 1 to 4,096 characters, otherwise as the tool wrote it. */
  readonly path?: string;
  /** The media type: `type/subtype` in lower case, and its parameters; left out where the tool gave none. */
  readonly mime?: string;
  /** One line for people, at most 2,000 characters, none of them hidden. */
  readonly description?: string;
  /** Why it is deferred. */
  readonly reason?: DeferredReason;
  /** What the user may do next: 1 to 20 lines of at most 500 characters, none of them hidden. */
  readonly next_actions?: readonly string[];
  /** What it is for. */
  readonly category?: FileCategory;
  /** Hours until it is gone: 1 to 8,760. */
  readonly expires_hours: number;
}

/** How files are shown (§8.1). */
export interface Display {
  /** Whether to open the canvas at once. */
  readonly open_canvas: boolean;
  /** The name of the file to show first: one of `artifacts` or `deferred_artifacts`. */
  readonly primary_file?: string;
  /** How it is laid out beside what is shown already. */
  readonly mode?: "replace" | "append" | "split";
  /** What becomes of the files. */
  readonly storage_action: "store" | "store_and_open" | "temporary";
  /** What files without a category are for. */
  readonly category_hint?: FileCategory;
  /** One line to show when the files are stored, at most 500 characters, none of them hidden. */
  readonly notification?: string;
}

/** What the reader of contracts is compiled from, where it is not the file beside the library: contract.wasm. */
export type ContractWasmSource = WasmSource;
