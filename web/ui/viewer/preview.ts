/**
 * What a renderer of previews is given, and how it says that something is in the way.
 * @module
 */
import type { ArtifactBytes, ShownArtifact } from "../shown.js";

/** What there is to draw, and whom to tell how it goes. */
export interface PreviewInput {
  /** What is shown. */
  readonly artifact: ShownArtifact;
  /** Where its bytes are. */
  readonly bytes: ArtifactBytes;
  /** Its name as it may be shown. */
  readonly name: string;
  /** Its media type in lower case, without parameters; empty when nobody said. */
  readonly type: string;
  /** All of it was asked for, whatever its size. */
  readonly whole: boolean;
  /** Takes how many bytes have been read, of how many (null: nobody knows). */
  readonly progress: (read: number, total: number | null) => void;
}

/** What a renderer has drawn. */
export interface Drawn {
  /** How many bytes, when there are more than it drew; left out when it drew all. */
  readonly part?: number;
  /** A sentence about what it left out, other than bytes. */
  readonly note?: string;
}

/**
 * Draws into an empty element and settles when there is something to see. What it holds beyond that (addresses, workers,
 * observers) it gives back when the signal is aborted. Throws a `PreviewProblem` for what a person should know.
 */
export type Renderer = (host: HTMLElement, input: PreviewInput, signal: AbortSignal) => Promise<Drawn>;

/** What a person can do about a problem: nothing, try again, look at the source, load all of it. */
export type Remedy = "none" | "retry" | "source" | "whole";

/** Why there is no preview: one sentence for a person, and the one thing to do about it. */
export class PreviewProblem extends Error {
  /** What to offer. */
  readonly remedy: Remedy;

  constructor(sentence: string, remedy: Remedy, options?: ErrorOptions) {
    super(sentence, options);
    this.name = "PreviewProblem";
    this.remedy = remedy;
  }
}

/** The bytes are gone. */
export function gone(): PreviewProblem {
  return new PreviewProblem("It has expired.", "none");
}

/** What a preview is drawn with could not be had. */
export function notLoaded(what: string, cause: unknown): PreviewProblem {
  return new PreviewProblem(`What shows ${what} could not be loaded.`, "source", { cause });
}

/** Loads what a preview is drawn with; says so when it cannot be had, as on a page that is offline. */
export async function loaded<T>(what: string, load: Promise<T>): Promise<T> {
  try {
    return await load;
  } catch (cause) {
    throw notLoaded(what, cause);
  }
}

/** Bytes of text that are drawn at first. */
export const TEXT_LIMIT: number = 1024 ** 2;
/** Bytes of a table that are drawn at first. */
export const TABLE_LIMIT: number = 10 * 1024 ** 2;
/** Bytes of what is drawn whole or not at all, before somebody asks for more. */
export const WHOLE_LIMIT: number = 20 * 1024 ** 2;
/** Bytes that a preview holds at most, whoever asks. */
export const MOST: number = 256 * 1024 ** 2;
