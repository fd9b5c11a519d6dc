/**
 * What a preview is given and returns, and small parts that several previews share.
 * @module
 */
import type { ArtifactBytes, ShownArtifact } from "../shown.js";
import { MEDIA_TYPES } from "./media-types.js";

/** The input of a renderer. */
export interface PreviewInput {
  /** What is shown. */
  readonly artifact: ShownArtifact;
  /** Where its bytes are. */
  readonly bytes: ArtifactBytes;
  /** Its name, safe to show. */
  readonly name: string;
  /** Its media type in lower case without parameters; empty if unknown. */
  readonly type: string;
  /** Whether to draw all of it, whatever its size. */
  readonly whole: boolean;
  /** Reports the bytes read, and the total or null. */
  readonly progress: (read: number, total: number | null) => void;
}

/** The result of a renderer. */
export interface Drawn {
  /** The bytes it drew, if not all. */
  readonly part?: number;
  /** A sentence about anything else it left out. */
  readonly note?: string;
}

/**
 * Draws into an empty element and resolves when there is something to see. Releases its resources (object URLs, workers,
 * observers) when the signal aborts. Throws a `PreviewProblem` for the user.
 */
export type Renderer = (host: HTMLElement, input: PreviewInput, signal: AbortSignal) => Promise<Drawn>;

/** What the user can do about a problem: nothing, retry, view the source, or load all of it. */
export type Remedy = "none" | "retry" | "source" | "whole";

/** Why there is no preview, as a sentence, and what to do about it. */
export class PreviewProblem extends Error {
  /** The action on offer. */
  readonly remedy: Remedy;

  constructor(sentence: string, remedy: Remedy, options?: ErrorOptions) {
    super(sentence, options);
    this.name = "PreviewProblem";
    this.remedy = remedy;
  }
}

/** The bytes are gone. */
export function makeGoneProblem(): PreviewProblem {
  return new PreviewProblem("It has expired.", "none");
}

/** The renderer could not be loaded. */
export function notLoaded(what: string, cause: unknown): PreviewProblem {
  return new PreviewProblem(`The viewer for ${what} could not be loaded.`, "source", { cause });
}

/** Loads a renderer. Throws a `PreviewProblem` if it fails, for example offline. */
export async function loadRenderer<T>(what: string, load: Promise<T>): Promise<T> {
  try {
    return await load;
  } catch (cause) {
    throw notLoaded(what, cause);
  }
}

/** Bytes of text drawn at first. */
export const TEXT_LIMIT: number = 1024 ** 2;
/** Bytes of a table drawn at first. */
export const TABLE_LIMIT: number = 10 * 1024 ** 2;
/** Bytes of content that is drawn whole or not at all, before the user asks for more. */
export const WHOLE_LIMIT: number = 20 * 1024 ** 2;
/** Bytes that a preview holds at most. */
export const MOST: number = 256 * 1024 ** 2;

/** Creates an element with a class, attributes and children. Strings become text, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = "",
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className !== "") made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Creates a button, active until the signal aborts. */
export function button(text: string, act: () => void, signal: AbortSignal): HTMLButtonElement {
  const made = element("button", "", { type: "button" }, text);
  made.addEventListener("click", act, { signal });
  return made;
}

/** The stated media type in lower case without parameters, else the one of the name's extension; empty if unknown. */
export function findMediaType(stated: string | null | undefined, name: string): string {
  const type = stated?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type !== "" && type !== "application/octet-stream") return type;
  const extension = /\.([a-z0-9-]{1,12})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(MEDIA_TYPES, extension) ? (MEDIA_TYPES[extension] ?? type) : type;
}
