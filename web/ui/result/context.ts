/**
 * What the parts of a result share.
 * @module
 */
import type { ShownArtifact } from "../shown.js";
import type { Pointed } from "./counterparts.js";
import type { Artifacts } from "./names.js";

/** What the server's side asks of the result around it. */
export interface SentContext {
  /** Artifacts by their ids. */
  readonly artifacts: Artifacts;
  /** Whether the configuration names a place, by its path of keys and indexes below the result. */
  configured(path: readonly string[]): boolean;
  /** Where the model sees something, in words; null when it does not. */
  whereabouts(pointed: Pointed): string | null;
  /** Moves the focus to where the model sees something. */
  reveal(pointed: Pointed): void;
  /** Asks the page for a preview. */
  preview(artifact: ShownArtifact): void;
}

/** An element that stands for something that the model may see. */
export interface Pointable {
  /** What it stands for. */
  pointed?: Pointed | null;
}

/** What the innermost element on an event's way stands for; null when none stands for anything. */
export function pointedBy(event: Event): Pointed | null {
  for (const target of event.composedPath()) {
    const { pointed } = target as Pointable;
    if (pointed !== undefined && pointed !== null) return pointed;
  }
  return null;
}
