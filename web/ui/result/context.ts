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
  /** Lights where the model sees something; null lights nothing. */
  point(pointed: Pointed | null): void;
  /** Asks the page for a preview. */
  preview(artifact: ShownArtifact): void;
}

/** An element that stands for something that the model may see. */
export interface Pointable {
  /** What it stands for. */
  pointed?: Pointed | null;
}

/** What the innermost element around an event's target stands for; null when none stands for anything. */
export function pointedBy(event: Event): Pointed | null {
  const [target] = event.composedPath();
  let node = target instanceof Node ? target : null;
  while (node !== null) {
    const { pointed } = node as Pointable;
    if (pointed !== undefined && pointed !== null) return pointed;
    node = node.parentNode ?? (node instanceof ShadowRoot ? node.host : null);
  }
  return null;
}

/**
 * Has the context told of what is pointed at within a shadow tree: when the pointer or the focus goes from one element of a
 * tree to another, that event is heard nowhere else.
 */
export function pointWithin(root: Node, context: () => SentContext | undefined): void {
  const tell = (event: Event): void => {
    const { relatedTarget } = event as PointerEvent | FocusEvent;
    if (relatedTarget instanceof Node && relatedTarget.getRootNode() === root) context()?.point(pointedBy(event));
  };
  for (const type of ["pointerover", "focusin"]) root.addEventListener(type, tell);
}
