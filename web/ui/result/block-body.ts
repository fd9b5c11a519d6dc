/**
 * What a block shows below its name.
 * @module
 */
import { html, nothing, type TemplateResult } from "lit";
import { humanSize } from "mcp-sluice";
import { loadOf, wordsOf, type Block, type Load } from "./blocks.js";
import { chip } from "./chip.js";
import type { SentContext } from "./context.js";
import type { JsonNode } from "./json-node.js";
import { artifactOf, descriptionOf, factOf, placeOf } from "./names.js";
import { ruleOf } from "./rules.js";
import { innerOf } from "./tree-rows.js";
import { words } from "./words.js";

/** How a block is shown. */
export interface BlockLook {
  /** The artifact that is pointed at in the model's text. */
  readonly lit: string | null;
  /** Whether a tree's first level is open. */
  readonly open: boolean;
  /** Whether JSON in a text is shown as the text that it is. */
  readonly asText: boolean;
  /** How many characters of a text are shown; left out, the first 2,000. */
  readonly chars: number | undefined;
  /** Shows JSON as a text or as a tree. */
  readonly showAs: (asText: boolean) => void;
  /** Shows so many characters. */
  readonly more: (chars: number) => void;
}

/** What is below the name of a block, and buttons that stand beside it. */
export interface BlockParts {
  /** Below the name. */
  readonly main: TemplateResult;
  /** Beside the name. */
  readonly tools: TemplateResult | typeof nothing;
}

const FIRST = 2_000;
const FACTS = ["name", "title", "uri", "mimeType", "size", "description"];

/** The parts of a block. */
export function blockBody(block: Block, context: SentContext, look: BlockLook): BlockParts {
  const load = loadOf(block);
  const said = wordsOf(block);
  if (load !== null) return { main: loadPart(block, load, context, look), tools: nothing };
  if (said !== null) return textPart(block, said, context, look);
  if (block.kind === "resource_link") return { main: html`${facts(block.node)}`, tools: nothing };
  return { main: tree(block.node, block, context, look), tools: nothing };
}

function loadPart(
  block: Block,
  { hole, inline, mimeType }: Load,
  context: SentContext,
  { lit }: BlockLook,
): TemplateResult {
  const holder = block.kind === "resource" ? block.node.member("resource") : block.node;
  const about = holder === null || block.kind === "image" || block.kind === "audio" ? nothing : facts(holder);
  if (hole === null) {
    const size = inline === null ? "" : ` · ${humanSize(inline)}`;
    return html`${about}<span class="chip" role="group" aria-label="Not taken out"
        ><span class="what"><bdi>${factOf(mimeType ?? "") || "bytes"}${size}</bdi></span>
        <span class="soft">stays in the result</span></span
      >`;
  }
  const rule = ruleOf(hole, block, context.configured(pathOf(block, [])));
  const description = descriptionOf(artifactOf(hole, context.artifacts));
  return html`${about}${chip(hole, context, { rule, lit })}
    <p class="why soft"><bdi>${rule.why} ${description}</bdi></p>`;
}

function textPart(block: Block, said: JsonNode, context: SentContext, look: BlockLook): BlockParts {
  const holder = block.kind === "text" ? nothing : facts(block.node.member("resource") ?? block.node);
  const inner = innerOf(said);
  const configured = context.configured(pathOf(block, ["text"]));
  const { hole } = said;
  if (hole !== null) {
    const rule = ruleOf(hole, null, configured);
    const description = descriptionOf(artifactOf(hole, context.artifacts));
    const main = html`${holder}${chip(hole, context, { rule, lit: look.lit })}
      <p class="why soft"><bdi>${rule.why} ${description}</bdi></p>`;
    return { main, tools: nothing };
  }
  if (inner === null || look.asText) {
    const { lit, chars = FIRST, more } = look;
    const main = html`${holder}${words(said.said, context, { chars, lit, configured, reached: true, more })}`;
    return { main, tools: inner === null ? nothing : switchOf(look) };
  }
  return { main: html`${holder}${tree(inner, block, context, look)}`, tools: switchOf(look) };
}

function switchOf({ asText, showAs }: BlockLook): TemplateResult {
  return html`<button class="small" type="button" aria-pressed=${asText} @click=${() => showAs(!asText)}>
    As text
  </button>`;
}

function tree(node: JsonNode, block: Block, context: SentContext, { lit, open }: BlockLook): TemplateResult {
  return html`<sluice-result-tree
    .node=${node}
    .context=${context}
    .keys=${pathOf(block, [])}
    .label=${`JSON of ${placeOf(block)}`}
    .lit=${lit}
    .opened=${open}
  ></sluice-result-tree>`;
}

// What a block says about itself, in the order of its members.
function facts(holder: JsonNode): TemplateResult | typeof nothing {
  const known = FACTS.flatMap((name) => {
    const value = holder.member(name);
    return value === null || value.kind === "object" || value.kind === "array"
      ? []
      : [[name, value.said.text] as const];
  });
  if (known.length === 0) return nothing;
  return html`<dl>
    ${known.map(
      ([name, text]) =>
        html`<dt>${name}</dt>
          <dd><bdi>${factOf(text)}</bdi></dd>`,
    )}
  </dl>`;
}

function pathOf({ name }: Block, more: readonly string[]): readonly string[] {
  return [...(name === "value" ? [] : name.split(" ")), ...more];
}
