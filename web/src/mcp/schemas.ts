/**
 * The schemas of a tool behind the gate: what its results may become, and what its arguments may be (design §6).
 * @module
 */
import {
  applyEdits,
  membersOf,
  nameOf,
  removeEdits,
  sourceOf,
  spanOf,
  valueAt,
  type Edit,
  type MemberNode,
  type ObjectNode,
  type ValueNode,
} from "./json-text.js";
import { hasOnly, isClosed, isHeedless, isOpen, listAt, stringAt } from "./schemas/keywords.js";
import { DIVERTIBLE, OBJECT, REFERENCE } from "./schemas/values.js";
import { REFERENCE_SCHEMA, Widening } from "./schemas/widening.js";

/** `widen`: references are let through; `keep`: nothing changes; `drop`: results have no schema any more. */
export type SchemaMode = "widen" | "keep" | "drop";

/**
 * The splices that make a tool's schemas fit what passes the gate. They depend on the text of the tool alone, and to
 * apply them twice changes nothing more.
 *
 * `widen` offers `{"type":"string","pattern":"^artifact://"}` at each position of `outputSchema` that may be diverted, and
 * at those strings of `inputSchema` that would refuse a reference; nothing that was valid becomes invalid. `drop` takes
 * `outputSchema` out and leaves `inputSchema` as it is.
 *
 * @param tool one element of `tools` in a `tools/list` result.
 * @param text the text that it was parsed from; offsets are those of this text.
 */
export function schemaEdits(tool: ObjectNode, text: string, mode: SchemaMode): Edit[] {
  if (mode === "keep") return [];
  if (mode === "drop") return removeEdits(tool, (name) => name === "outputSchema");
  const output = valueAt(tool, "outputSchema");
  const input = valueAt(tool, "inputSchema");
  return [
    ...(output?.type === "Object" ? outputEdits(output, text) : []),
    ...(input?.type === "Object" ? inputEdits(input, text) : []),
  ];
}

function inputEdits(root: ObjectNode, text: string): Edit[] {
  const widening = new Widening(text, root, "input");
  widening.run();
  // What is loosened for references is loosened only where there are any.
  return widening.hasOffers ? widening.edits() : [];
}

/** The member of an object that stands for a whole result. */
const ARTIFACT = "artifact";

/** What a whole result becomes. */
const COLLAPSED: string = `{"type":"object","properties":{"${ARTIFACT}":${REFERENCE_SCHEMA}},"required":["${ARTIFACT}"]}`;

/** Keywords that an object naming the artifact alone may fail, and that need no neighbour to mean what they mean. */
const DEMANDS: ReadonlySet<string> = new Set(
  (
    "required minProperties maxProperties propertyNames dependentRequired dependentSchemas dependencies " +
    "allOf anyOf oneOf not if then else const enum $ref $dynamicRef $recursiveRef"
  ).split(" "),
);

/**
 * The splices that widen a schema of results. Its root is special: a result that is diverted whole becomes an object that
 * names the artifact, and clients of revisions up to 2025-11-25 want `type: "object"` at the root.
 */
function outputEdits(root: ObjectNode, text: string): Edit[] {
  const widening = new Widening(text, root, "output");
  const isOfObjects = stringAt(root, "type") === "object";
  const goes = (name: string): boolean => (isOfObjects ? DEMANDS.has(name) : !isHeedless(name));
  const moved = root.members.filter((member) => goes(nameOf(member)));
  const alternatives = moved.some(isDemanding) ? alternativesFor(root, widening) : [];
  const names = new Set(alternatives.length > 0 ? moved.map(nameOf) : []);
  widening.moves.moveFromRoot(names, !isOfObjects);
  widening.run();
  if (isOfObjects) admitArtifact(root, widening);
  const edits = widening.edits();
  return names.size > 0 ? restructured(root, text, names, alternatives, edits) : edits;
}

function isDemanding(member: MemberNode): boolean {
  const { value } = member;
  // Of arrays alone: nothing that stands for a whole result is one.
  if (nameOf(member) === "uniqueItems") return false;
  return !(isOpen(value) || (value.type === "Array" && value.elements.length === 0));
}

/** What a value diverted whole becomes: a string, or for an object one that names the artifact. */
function alternativesFor(root: ObjectNode, widening: Widening): string[] {
  const kinds = widening.rootKinds;
  const alternatives: string[] = [];
  if ((kinds & DIVERTIBLE & ~OBJECT) !== 0 && !widening.isRootAccepting) {
    alternatives.push(widening.alternativeFor(kinds));
  }
  if ((kinds & OBJECT) !== 0 && !listAt(root, "anyOf").some(isCollapsed)) alternatives.push(COLLAPSED);
  return alternatives;
}

function isCollapsed(branch: ValueNode): boolean {
  const artifact = valueAt(valueAt(branch, "properties"), ARTIFACT);
  return (
    artifact !== undefined &&
    stringAt(artifact, "pattern") === REFERENCE &&
    branch.type === "Object" &&
    hasOnly(branch, (name) => OF_COLLAPSED.has(name))
  );
}

const OF_COLLAPSED: ReadonlySet<string> = new Set(["type", "properties", "required"]);

/** Lets an object through that has the member `artifact` alone, as far as members are described. */
function admitArtifact(root: ObjectNode, widening: Widening): void {
  const properties = valueAt(root, "properties");
  const patterns = valueAt(root, "patternProperties");
  const described = valueAt(properties, ARTIFACT);
  if (described !== undefined) widening.position(described, root, true);
  if (patterns?.type === "Object") {
    for (const { value } of membersOf(patterns).values()) widening.position(value, root, true);
  }
  if (described !== undefined || !isClosed(root)) return;
  // Where a member of that name was possible before, anything it was stays possible.
  const rest = valueAt(root, "additionalProperties");
  const wasImpossible = rest?.type === "Boolean" && !rest.value && patterns === undefined;
  const member = `"${ARTIFACT}":${wasImpossible ? REFERENCE_SCHEMA : "{}"}`;
  if (properties === undefined) widening.moves.append(root, `"properties":{${member}}`);
  else if (properties.type === "Object") widening.moves.append(properties, member);
}

/** Gathers members of the root in the first branch of an `anyOf`, other branches being what may come in its place. */
function restructured(
  root: ObjectNode,
  text: string,
  names: ReadonlySet<string>,
  alternatives: readonly string[],
  edits: readonly Edit[],
): Edit[] {
  const isMoved = (member: MemberNode): boolean => names.has(nameOf(member));
  const { demands, others } = withOwnEdits(root.members.filter(isMoved), text, edits);
  const choice = `"anyOf":[{${demands.join(",")}},${alternatives.join(",")}]`;
  const left = root.members.findLast((member) => !isMoved(member));
  const at = left === undefined ? spanOf(root).start + 1 : spanOf(left).end;
  return [
    ...others,
    { at, remove: 0, insert: left === undefined ? choice : `,${choice}` },
    ...removeEdits(root, (name) => names.has(name)),
  ];
}

/** The texts of members with those edits that lie within, and the edits that do not. */
function withOwnEdits(
  members: readonly MemberNode[],
  text: string,
  edits: readonly Edit[],
): { readonly demands: string[]; readonly others: Edit[] } {
  const sorted = [...edits].sort((one, other) => one.at - other.at);
  const others: Edit[] = [];
  let index = 0;
  const demands = members.map((member) => {
    const { start, end } = spanOf(member);
    const own: Edit[] = [];
    for (let edit = sorted[index]; edit !== undefined && edit.at <= end; edit = sorted[(index += 1)]) {
      if (edit.at >= start && edit.at + edit.remove <= end) own.push({ ...edit, at: edit.at - start });
      else others.push(edit);
    }
    return applyEdits(sourceOf(text, member), own);
  });
  return { demands, others: [...others, ...sorted.slice(index)] };
}
