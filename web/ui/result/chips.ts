/**
 * The chips that stand for stored bytes, alone and in a server's text, and what the parts of a result share.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import { ifDefined } from "lit/directives/if-defined.js";
import locate from "lucide-static/icons/locate.svg?raw";
import { type ArtifactBytes, isStored, type ShownArtifact } from "../shown.js";
import { icon } from "../icons.js";
import { toSafeName } from "../plain-text.js";
import "../thumbnail.js";
import type { Pointed } from "./counterparts.js";
import {
  findArtifact,
  type Artifacts,
  chipText,
  readDescription,
  hashText,
  listInside,
  type Rule,
  findRule,
} from "./labels.js";
import { type Hole, type MarkedText, listPieces } from "./marked-text.js";

/** What the parts of a result get from the element around them. */
export interface ResultContext {
  /** Artifacts by their ids. */
  readonly artifacts: Artifacts;
  /** The bytes of an artifact; undefined if there are none here. */
  bytes(artifact: ShownArtifact): ArtifactBytes | undefined;
  /** Whether the configuration names a path of keys and indexes. */
  configured(path: readonly string[]): boolean;
  /** Where the model sees something, in words; null if it does not. */
  whereabouts(pointed: Pointed): string | null;
  /** Moves the focus to where the model sees something. */
  reveal(pointed: Pointed): void;
  /** Highlights where the model sees something; null removes the highlight. */
  point(pointed: Pointed | null): void;
  /** Asks the page for a preview. */
  preview(artifact: ShownArtifact): void;
}

/** An element that stands for something that the model may see. */
interface Pointable {
  /** What it stands for. */
  pointed?: Pointed | null;
}

/** What the target of an event, or its closest ancestor, stands for; null for nothing. */
export function findPointed(event: Event): Pointed | null {
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
 * Reports pointing within a shadow tree: events between two elements of the same tree do not leave it.
 */
export function pointWithin(root: Node, context: () => ResultContext | undefined): void {
  const tell = (event: Event): void => {
    const { relatedTarget } = event as PointerEvent | FocusEvent;
    if (relatedTarget instanceof Node && relatedTarget.getRootNode() === root) context()?.point(findPointed(event));
  };
  for (const type of ["pointerover", "focusin"]) root.addEventListener(type, tell);
}

/** Options for a chip. */
interface ChipLook {
  /** The rule that stored it. */
  readonly rule: Rule;
  /** The artifact that is pointed at in the model's text. */
  readonly lit: string | null;
  /** Whether Tab reaches its buttons. Defaults to true. */
  readonly reached?: boolean;
  /** Whether it is inside another chip and shows none itself. */
  readonly inner?: boolean;
  /** Whether it is all there is in its place: with a larger picture, and why it was taken out in words. */
  readonly alone?: boolean;
}

const INSIDE: Rule = { layer: "L3", name: "detected", why: "Encoded bytes were found in the text." };

/** A chip: a picture, name, type, size, why it was taken out, "Preview" and "Show in model view". Its hash is in its tooltip. */
export function chip(
  hole: Hole,
  context: ResultContext,
  { rule, lit, reached = true, inner = false, alone = false }: ChipLook,
): TemplateResult {
  const artifact = findArtifact(hole, context.artifacts);
  const what = chipText(artifact);
  const name = toSafeName(artifact.filename, "");
  const description = readDescription(artifact);
  const tab = reached ? undefined : -1;
  const told = [description, hashText(artifact)].filter((part) => part !== null && part !== "").join("\n");
  return html`<span
    class="chip ${alone ? "alone" : ""} ${lit === hole.id ? "lit" : ""}"
    role="group"
    aria-label=${`${isStored(artifact) ? "Stored" : "Not stored"}: ${name === "" ? what : `${name}, ${what}`}`}
    .pointed=${{ id: hole.id }}
  >
    <sluice-thumbnail .artifact=${artifact} .bytes=${context.bytes(artifact)}></sluice-thumbnail>
    <span class="what" title=${told === "" ? what : told}
      >${name === "" ? nothing : html`<bdi class="file">${name}</bdi> `}<bdi class="facts">${what}</bdi></span
    >
    ${alone ? html`<span class="why soft">${rule.why}${description === null ? nothing : html` <bdi>${description}</bdi>`}</span>` : nothing}
    <span class="tools"
      >${preview(artifact, context, name || what, tab)} ${reveal(hole, context, name || what, tab)}
      ${badge(rule, description, reached)}</span
    >
    ${(inner ? [] : listInside(artifact)).map(
      (held) =>
        html`<span class="soft">with</span> ${chip(held, context, { rule: INSIDE, lit, reached, inner: true })}`,
    )}
  </span>`;
}

/** The badge of a rule, which says what it means to those who want to know. */
export function badge(rule: Rule, detail: string | null = null, reached = true): TemplateResult {
  return html`<sluice-result-rule .rule=${rule} .detail=${detail} .reached=${reached}></sluice-result-rule>`;
}

function preview(
  artifact: ShownArtifact,
  context: ResultContext,
  called: string,
  tab: number | undefined,
): TemplateResult {
  if (!isStored(artifact)) return html`<span class="soft">not stored</span>`;
  return html`<button
    class="small"
    type="button"
    tabindex=${ifDefined(tab)}
    aria-label=${`Preview ${called}`}
    @click=${() => context.preview(artifact)}
  >
    Preview
  </button>`;
}

function reveal(hole: Hole, context: ResultContext, called: string, tab: number | undefined): TemplateResult {
  const where = context.whereabouts({ id: hole.id });
  if (where === null) return html`<span class="soft">not in the model view</span>`;
  // One text for both: another tooltip would be read behind the name.
  const title = `Show ${called} in model view, ${where}`;
  return html`<button
    class="small plain"
    type="button"
    tabindex=${ifDefined(tab)}
    title=${title}
    aria-label=${title}
    @click=${() => context.reveal({ id: hole.id })}
  >
    ${icon(locate)}
  </button>`;
}

/** Characters by which more of a long text is shown. */
const STEP = 20_000;

/** How a text is shown. */
interface WordsLook {
  /** The number of characters. */
  readonly chars: number;
  /** The artifact that is pointed at in the model's text. */
  readonly lit: string | null;
  /** Whether the configuration names the place that it stands at. */
  readonly configured: boolean;
  /** Whether Tab reaches its buttons. */
  readonly reached: boolean;
  /** Shows that many characters. */
  readonly more: (chars: number) => void;
}

/** A text up to a length, with a button for the rest. */
export function textWithChips(said: MarkedText, context: ResultContext, look: WordsLook): TemplateResult {
  const { pieces, whole } = listPieces(said, look.chars);
  const { lit, configured, reached } = look;
  return html`<span class="text"
      >${pieces.map((piece) =>
        typeof piece === "string"
          ? piece
          : chip(piece, context, { rule: findRule(piece, null, configured), lit, reached }),
      )}${whole ? nothing : "…"}</span
    >${whole ? nothing : rest(said.text.length, look)}`;
}

function rest(length: number, { chars, reached, more }: WordsLook): TemplateResult {
  const next = chars < STEP ? STEP : chars + STEP;
  const all = next >= length;
  return html` <button
    class="small"
    type="button"
    tabindex=${ifDefined(reached ? undefined : -1)}
    @click=${() => more(next)}
  >
    ${all ? "Show all" : "Show more"} (${length.toLocaleString("en")} characters)
  </button>`;
}
