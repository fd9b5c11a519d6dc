/**
 * Labels for blocks, artifacts and the layers that acted on them.
 * @module
 */
import { humanSize } from "mcp-sluice";
import { plainText, toSafeName } from "../plain-text.js";
import type { ShownArtifact } from "../shown.js";
import type { Block } from "./blocks.js";
import { type Hole, readReference } from "./marked-text.js";

/** Most characters of a description, and of what a block says about itself. */
const MAX_DESCRIPTION = 500;
const MAX_FACT = 300;

/** Artifacts by their ids. */
export type Artifacts = ReadonlyMap<string, ShownArtifact>;

/** The artifact of a hole, or what its reference says of it. */
export function findArtifact(hole: Hole, artifacts: Artifacts): ShownArtifact {
  const known = artifacts.get(hole.id);
  if (known !== undefined) return known;
  return {
    id: hole.id,
    ...(hole.mimeType !== null && { mime_type: hole.mimeType }),
    ...(hole.size !== null && { size_bytes: hole.size }),
  };
}

/** `application/pdf · 4.0 MB`, as far as known. */
export function chipText({ mime_type, size_bytes }: ShownArtifact): string {
  const parts = [plainText(mime_type, 100) || "application/octet-stream"];
  if (typeof size_bytes === "number") parts.push(humanSize(size_bytes));
  return parts.join(" · ");
}

/** The whole of a hash, for those who ask; empty without one. */
export function hashText({ sha256 }: ShownArtifact): string {
  const hash = plainText(sha256);
  return hash === "" ? "" : `SHA-256 ${hash}`;
}

/** The stored description; null if there is none. */
export function readDescription({ source }: ShownArtifact): string | null {
  return plainText(source?.["description"], MAX_DESCRIPTION) || null;
}

/** The name of a block, made safe to show. */
export function nameBlock({ name }: Block): string {
  return toSafeName(name, "unnamed");
}

/** A fact of a block, made safe to show. */
export function toSafeFact(said: string): string {
  return plainText(said, MAX_FACT);
}

/** Artifacts inside a stored text, each once, at most eight. */
export function listInside({ source }: ShownArtifact): Hole[] {
  const references = source?.["references"];
  if (!Array.isArray(references)) return [];
  const found = new Map<string, Hole>();
  for (const entry of references.slice(0, 1_000) as readonly unknown[]) {
    const uri = typeof entry === "object" && entry !== null && "uri" in entry ? entry.uri : null;
    const reference = typeof uri === "string" ? readReference(uri) : null;
    if (reference !== null) found.set(reference.id, { begin: 0, end: 0, kind: "run", ...reference });
  }
  return [...found.values()].slice(0, 8);
}

/** The number of a layer, in the order in which they act. */
export type Layer = "L4" | "L2" | "L3" | "L1" | "L0";

/** A rule of a layer, with an explanation. */
export interface Rule {
  /** The layer that it is of. */
  readonly layer: Layer;
  /** Two words for a badge. */
  readonly name: string;
  /** Why it acted, in a sentence. */
  readonly why: string;
}

/** What each layer does, for a first-time reader. */
export const LAYERS: Readonly<Record<Layer, string>> = {
  L4: "Layer 4 takes out what you name: the fields that the configuration lists for a tool.",
  L1: "Layer 1 is about links. They stay links; what they point to is read only on request.",
  L2: "Layer 2 takes out what the server itself marks as a file: images, sounds and embedded resources.",
  L3: "Layer 3 looks for files that are not marked: base64 or hex, anywhere in a text or in JSON.",
  L0: "Layer 0 comes last: whatever is still too long for a model is stored, and its beginning stays.",
};

/** The rule that keeps links. */
export const LINK: Rule = { layer: "L1", name: "link kept", why: "A link is read on request." };

/**
 * The rule that stored something. `block` is the typed block it belongs to, null for a text or a value. `configured` says that the
 * configuration names its path.
 */
export function findRule(hole: Hole, block: Block | null, configured = false): Rule {
  if (configured) return { layer: "L4", name: "field", why: "The configuration names this field of the tool." };
  if (block !== null) {
    const what = block.kind === "image" || block.kind === "audio" ? `${block.kind} block` : "resource";
    return { layer: "L2", name: "typed block", why: `The server sent it as bytes of ${article(what)}.` };
  }
  if (hole.kind === "text") return { layer: "L0", name: "size", why: "The text is too long to stay in the result." };
  if (hole.kind === "json") return { layer: "L0", name: "size", why: "The value is too large to stay in the result." };
  const where = hole.kind === "bytes" ? "an array of byte values" : "a string";
  return { layer: "L3", name: "detected", why: `Encoded bytes were found in ${where}.` };
}

function article(words: string): string {
  return `${/^[aeio]/.test(words) ? "an" : "a"} ${words}`;
}

/** The steps of a path such as `report.pages[0].pdf` or `items.*.data`. */
export function splitSteps(path: string): readonly string[] {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  return steps[0] === "$" ? steps.slice(1) : steps;
}

/**
 * Whether steps match a path of keys. As in the core, they start at the result, at `result`, at `structuredContent`, at its
 * `result`, or in the JSON of a text block.
 */
export function namesPlace(steps: readonly string[], keys: readonly string[]): boolean {
  if (steps.length === 0 || steps.length > keys.length) return false;
  const before = keys.slice(0, keys.length - steps.length).join("/");
  const starts = /^(?:result|structuredContent|structuredContent\/result|content\/\d+(?:\/text)?(?:\/result)?)?$/.test(
    before,
  );
  return starts && steps.every((step, index) => step === "*" || step === keys[keys.length - steps.length + index]);
}
