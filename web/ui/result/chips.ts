/**
 * The chips that stand for stored bytes, alone and in a server's text, and what the parts of a result share.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import { ifDefined } from "lit/directives/if-defined.js";
import locate from "lucide-static/icons/locate.svg?raw";
import { isStored, type ShownArtifact } from "../shown.js";
import { icon, iconOf } from "../icons.js";
import type { Pointed } from "./counterparts.js";
import { artifactOf, type Artifacts, chipText, descriptionOf, insideOf, type Rule, ruleOf } from "./labels.js";
import { type Hole, type MarkedText, piecesOf } from "./marked-text.js";

/** What the parts of a result get from the element around them. */
export interface ResultContext {
  /** Artifacts by their ids. */
  readonly artifacts: Artifacts;
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
 * Reports pointing within a shadow tree: events between two elements of the same tree do not leave it.
 */
export function pointWithin(root: Node, context: () => ResultContext | undefined): void {
  const tell = (event: Event): void => {
    const { relatedTarget } = event as PointerEvent | FocusEvent;
    if (relatedTarget instanceof Node && relatedTarget.getRootNode() === root) context()?.point(pointedBy(event));
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
}

const INSIDE: Rule = { layer: "L3", name: "detected", why: "Encoded bytes were found in the text." };

/** A chip: type, size, hash, the rule, "Preview" and "Show in model view". */
export function chip(
  hole: Hole,
  context: ResultContext,
  { rule, lit, reached = true, inner = false }: ChipLook,
): TemplateResult {
  const artifact = artifactOf(hole, context.artifacts);
  const what = chipText(artifact);
  const description = descriptionOf(artifact);
  const tab = reached ? undefined : -1;
  return html`<span
    class="chip ${lit === hole.id ? "lit" : ""}"
    role="group"
    aria-label=${`${isStored(artifact) ? "Stored" : "Not stored"}: ${what}`}
    .pointed=${{ id: hole.id }}
  >
    <span class="what" title=${description ?? what}>${iconOf(artifact.mime_type ?? null)} <bdi>${what}</bdi></span>
    ${badge(rule, description)} ${preview(artifact, context, what, tab)} ${reveal(hole, context, what, tab)}
    ${(inner ? [] : insideOf(artifact)).map(
      (held) =>
        html`<span class="soft">with</span> ${chip(held, context, { rule: INSIDE, lit, reached, inner: true })}`,
    )}
  </span>`;
}

/** The badge of a rule, with its reason as the title and for screen readers. */
export function badge({ layer, name, why }: Rule, description: string | null = null): TemplateResult {
  const title = description === null ? why : `${why} ${description}`;
  return html`<span class="badge" title=${title}><b>${layer}</b> ${name}<span class="unseen">. ${title}</span></span>`;
}

function preview(
  artifact: ShownArtifact,
  context: ResultContext,
  what: string,
  tab: number | undefined,
): TemplateResult {
  if (!isStored(artifact)) return html`<span class="soft">not stored</span>`;
  return html`<button
    class="small"
    type="button"
    tabindex=${ifDefined(tab)}
    aria-label=${`Preview ${what}`}
    @click=${() => context.preview(artifact)}
  >
    Preview
  </button>`;
}

function reveal(hole: Hole, context: ResultContext, what: string, tab: number | undefined): TemplateResult {
  const where = context.whereabouts({ id: hole.id });
  if (where === null) return html`<span class="soft">not in the model view</span>`;
  return html`<button
    class="small plain"
    type="button"
    tabindex=${ifDefined(tab)}
    title=${`Show in model view: ${where}`}
    aria-label=${`Show ${what} in model view, ${where}`}
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
  const { pieces, whole } = piecesOf(said, look.chars);
  const { lit, configured, reached } = look;
  return html`<span class="text"
      >${pieces.map((piece) =>
        typeof piece === "string"
          ? piece
          : chip(piece, context, { rule: ruleOf(piece, null, configured), lit, reached }),
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
