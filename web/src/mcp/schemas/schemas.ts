/**
 * Widens a tool's schemas to what the gate makes of its results, and to references in its arguments.
 * @module
 */
import {
  applyEdits,
  mapMembers,
  readName,
  removeEdits,
  replaceEdit,
  sliceSource,
  findSpan,
  valueAt,
  type Edit,
  type MemberNode,
  type ObjectNode,
  type ValueNode,
} from "../../json/text.js";
import { hasOnly, isClosed, constrainsNothing, isOpen, listAt, stringAt } from "./keywords.js";
import { DIVERTIBLE, OBJECT } from "./values.js";
import { Widening, type Manner } from "./widen.js";

/** How schemas change. `widen` accepts references, `keep` changes nothing, `drop` removes the schema of results. */
export type SchemaMode = "widen" | "keep" | "drop";

/** A widened schema has at most so many times its characters, and so many more. */
const GROWTH = { factor: 1.2, more: 200 };

/**
 * The splices that make a tool's schemas accept what passes the gate. They depend only on the tool's text, and applying
 * them twice changes nothing more.
 *
 * `widen` offers a text with `artifact://` at each position of `outputSchema` that may be diverted, and one that begins so at those strings of
 * `inputSchema` that would refuse a reference. Everything that was valid stays valid. A schema that would grow too much is loosened in fewer
 * characters: any text is let stand, and at last any object. `drop` removes `outputSchema` and leaves `inputSchema`.
 *
 * @param tool one element of `tools` in a `tools/list` result.
 * @param text the text that it was parsed from. Offsets refer to it.
 * @param checksResults whether the client holds results against their schemas. Otherwise these stay.
 */
export function schemaEdits(tool: ObjectNode, text: string, mode: SchemaMode, checksResults: boolean = true): Edit[] {
  if (mode === "keep") return [];
  if (mode === "drop") return removeEdits(tool, (name) => name === "outputSchema");
  const output = valueAt(tool, "outputSchema");
  const input = valueAt(tool, "inputSchema");
  return [
    ...(output?.type === "Object" && checksResults
      ? (fittingEdits(output, text, OUTPUT_MANNERS) ?? [replaceEdit(output, anyResult(output))])
      : []),
    ...(input?.type === "Object" ? (fittingEdits(input, text, INPUT_MANNERS) ?? []) : []),
  ];
}

type Manners = readonly ((root: ObjectNode, text: string) => Edit[])[];

const OUTPUT_MANNERS: Manners = (["definition", "type"] as const).map(
  (manner) => (root: ObjectNode, text: string) => outputEdits(root, text, manner),
);

const INPUT_MANNERS: Manners = (["definition", "pattern"] as const).map(
  (manner) => (root: ObjectNode, text: string) => inputEdits(root, text, manner),
);

/** The schema of a result that is described no more. */
function anyResult(root: ObjectNode): string {
  return stringAt(root, "type") === "object" ? '{"type":"object"}' : "{}";
}

/** The first edits after which a schema is not too long. Undefined if there are none. */
function fittingEdits(root: ObjectNode, text: string, manners: Manners): Edit[] | undefined {
  const { start, end } = findSpan(root);
  const most = (end - start) * (GROWTH.factor - 1) + GROWTH.more;
  for (const makeEdits of manners) {
    const edits = makeEdits(root, text);
    if (edits.reduce((sum, { insert, remove }) => sum + insert.length - remove, 0) <= most) return edits;
  }
  return undefined;
}

function inputEdits(root: ObjectNode, text: string, manner: Manner): Edit[] {
  const widening = new Widening(text, root, "input", manner);
  widening.run();
  // Schemas are only loosened for references where there are any.
  return widening.hasOffers ? widening.edits() : [];
}

/** The member that names a whole result's artifact. */
const ARTIFACT = "artifact";

/** The schema of a result that was diverted whole. */
const COLLAPSED: string = `{"required":["${ARTIFACT}"]}`;

/** Keywords that an object with only the artifact may fail, and that do not depend on neighbouring keywords. */
const DEMANDS: ReadonlySet<string> = new Set(
  (
    "required minProperties maxProperties propertyNames dependentRequired dependentSchemas dependencies " +
    "allOf anyOf oneOf not if then else const enum $ref $dynamicRef $recursiveRef"
  ).split(" "),
);

/**
 * The splices that widen a schema of results. Its root is special: a result that is diverted whole becomes an object
 * that names the artifact, and clients up to revision 2025-11-25 require `type: "object"` at the root.
 */
function outputEdits(root: ObjectNode, text: string, manner: Manner): Edit[] {
  const widening = new Widening(text, root, "output", manner);
  const isOfObjects = stringAt(root, "type") === "object";
  const goes = (name: string): boolean => (isOfObjects ? DEMANDS.has(name) : !constrainsNothing(name));
  const moved = root.members.filter((member) => goes(readName(member)));
  const alternatives = moved.some(isDemanding) ? alternativesFor(root, widening) : [];
  const names = new Set(alternatives.length > 0 ? moved.map(readName) : []);
  widening.moves.moveFromRoot(names, !isOfObjects);
  widening.run();
  if (isOfObjects) admitArtifact(root, widening);
  const edits = widening.edits();
  const restructured = names.size > 0 ? restructure(root, text, names, alternatives, edits) : edits;
  return [...restructured, ...widening.definitionEdits()];
}

function isDemanding(member: MemberNode): boolean {
  const { value } = member;
  // Applies to arrays only, and a whole result is never replaced by one.
  if (readName(member) === "uniqueItems") return false;
  return !(isOpen(value) || (value.type === "Array" && value.elements.length === 0));
}

/** The replacements for a value that is diverted whole: a string, or for an object one that names the artifact. */
function alternativesFor(root: ObjectNode, widening: Widening): string[] {
  const kinds = widening.rootKinds;
  const alternatives: string[] = [];
  if ((kinds & DIVERTIBLE & ~OBJECT) !== 0 && !widening.isRootAccepting) {
    alternatives.push(widening.alternativeWithin(root));
  }
  if ((kinds & OBJECT) !== 0 && !listAt(root, "anyOf").some(isCollapsed)) alternatives.push(COLLAPSED);
  return alternatives;
}

function isCollapsed(branch: ValueNode): boolean {
  const [only, ...others] = listAt(branch, "required");
  const isOnly = only?.type === "String" && only.value === ARTIFACT && others.length === 0;
  return isOnly && branch.type === "Object" && hasOnly(branch, (name) => name === "required");
}

/** Accepts an object with only the member `artifact`, as far as members are described. */
function admitArtifact(root: ObjectNode, widening: Widening): void {
  const properties = valueAt(root, "properties");
  const patterns = valueAt(root, "patternProperties");
  const described = valueAt(properties, ARTIFACT);
  if (described !== undefined) widening.position(described, root, true);
  if (patterns?.type === "Object") {
    for (const { value } of mapMembers(patterns).values()) widening.position(value, root, true);
  }
  if (described !== undefined || !isClosed(root)) return;
  // If a member of that name was allowed before, any value it had stays allowed.
  const rest = valueAt(root, "additionalProperties");
  const wasImpossible = rest?.type === "Boolean" && !rest.value && patterns === undefined;
  const member = `"${ARTIFACT}":${wasImpossible ? widening.alternativeWithin(root) : "{}"}`;
  if (properties === undefined) widening.moves.append(root, `"properties":{${member}}`);
  else if (properties.type === "Object") widening.moves.append(properties, member);
}

/** Moves members of the root into the first branch of an `anyOf`, with the alternatives as further branches. */
function restructure(
  root: ObjectNode,
  text: string,
  names: ReadonlySet<string>,
  alternatives: readonly string[],
  edits: readonly Edit[],
): Edit[] {
  const isMoved = (member: MemberNode): boolean => names.has(readName(member));
  const { demands, others } = withOwnEdits(root.members.filter(isMoved), text, edits);
  const choice = `"anyOf":[{${demands.join(",")}},${alternatives.join(",")}]`;
  const left = root.members.findLast((member) => !isMoved(member));
  const at = left === undefined ? findSpan(root).start + 1 : findSpan(left).end;
  return [
    ...others,
    { at, remove: 0, insert: left === undefined ? choice : `,${choice}` },
    ...removeEdits(root, (name) => names.has(name)),
  ];
}

/** The texts of members with the edits inside them applied, and the other edits. */
function withOwnEdits(
  members: readonly MemberNode[],
  text: string,
  edits: readonly Edit[],
): { readonly demands: string[]; readonly others: Edit[] } {
  const sorted = [...edits].sort((one, other) => one.at - other.at);
  const others: Edit[] = [];
  let index = 0;
  const demands = members.map((member) => {
    const { start, end } = findSpan(member);
    const own: Edit[] = [];
    for (let edit = sorted[index]; edit !== undefined && edit.at <= end; edit = sorted[(index += 1)]) {
      if (edit.at >= start && edit.at + edit.remove <= end) own.push({ ...edit, at: edit.at - start });
      else others.push(edit);
    }
    return applyEdits(sliceSource(text, member), own);
  });
  return { demands, others: [...others, ...sorted.slice(index)] };
}
