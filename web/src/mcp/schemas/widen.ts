/**
 * Widens a schema so that it accepts everything it accepted before, and references in place of what the gate diverts.
 *
 * References are offered at positions only: where a schema is about a part of a value. Schemas combined about the same
 * value (`allOf`, `oneOf`, `$ref`, …) keep their outer form, so that definitions keep their meaning everywhere.
 * @module
 */
import {
  appendEdit,
  readName,
  removeEdits,
  replaceEdit,
  sliceSource,
  findSpan,
  valueAt,
  wrapEdits,
  type ArrayNode,
  type Edit,
  type ObjectNode,
  type ValueNode,
} from "../../json/text.js";
import {
  ANNOTATIONS,
  baseWithin,
  follow,
  hasOnly,
  isClosed,
  isExtension,
  constrainsNothing,
  isOpen,
  isThroughData,
  listAt,
  readReference,
  stringAt,
  listSubschemas,
  type Reference,
  type Subschema,
} from "./keywords.js";
import {
  Acceptance,
  ANYTHING,
  DIVERTIBLE,
  LONG_STRING,
  REFERENCE,
  Steadiness,
  STRING,
  TEXT_WITH_REFERENCE,
  Values,
  type Side,
} from "./values.js";

/** The name of the alternative among the definitions of a schema. */
const DEFINITION = "reference";

/**
 * How references are let stand: by the definition of one, by a text of any kind, which takes fewer characters, or where that takes too many,
 * by patterns alone.
 */
export type Manner = "definition" | "type" | "pattern";

/** Widens one schema document. */
export class Widening {
  readonly moves: Moves;
  readonly #side: Side;
  readonly #root: ObjectNode;
  readonly #values = new Values();
  readonly #acceptance: Acceptance;
  readonly #steadiness = new Steadiness(this.#values);
  readonly #waiting: { readonly schema: ObjectNode; readonly base: ObjectNode }[] = [];
  readonly #seen = new Set<ValueNode>();
  readonly #references: Reference[] = [];
  readonly #unevaluated: ValueNode[] = [];
  readonly #offered = new Set<ValueNode>();
  readonly #manner: Manner;
  #hasLooseCondition = false;
  #isDefined = false;

  constructor(text: string, root: ObjectNode, side: Side, manner: Manner) {
    this.moves = new Moves(text, root, side);
    this.#manner = manner;
    this.#side = side;
    this.#root = root;
    this.#acceptance = new Acceptance(side, this.#values);
  }

  /** Whether a reference was offered anywhere. */
  get hasOffers(): boolean {
    return this.#offered.size > 0;
  }

  /** Kinds of values that the document is about. */
  get rootKinds(): number {
    return this.#values.of(this.#root, this.#root);
  }

  /** Whether the document accepts references as it is. */
  get isRootAccepting(): boolean {
    return this.#acceptance.of(this.#root, this.#root);
  }

  /** Widens all positions of the document. The caller handles its root. */
  run(): void {
    this.#enter(this.#root, this.#root);
    // A queue and not recursion: references may form chains of any length.
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) this.#schema(next);
    // A branch that need not hold evaluates nothing either.
    if (!this.#hasLooseCondition) return;
    for (const schema of this.#unevaluated) this.#loosen(schema);
  }

  /** All changes, with references updated to what moved. */
  edits(): Edit[] {
    for (const reference of this.#references) {
      const ref = this.moves.relocated(reference);
      if (ref !== reference.node.value) this.moves.replace(reference.node, JSON.stringify(ref));
    }
    return this.moves.edits();
  }

  /** Offers a reference at a position unless it accepts one. With `always`, also where nothing may be diverted. */
  position(schema: ValueNode, base: ObjectNode, always: boolean = false): void {
    const kinds = this.#values.of(schema, base);
    if (!(always || this.#isWanted(schema, kinds)) || this.#acceptance.of(schema, base)) return;
    if (this.#offered.has(schema)) return;
    this.#offered.add(schema);
    if (schema.type === "Object" && this.#extend(schema)) return;
    if (this.#manner === "pattern") return;
    const alternative = this.alternativeWithin(base);
    const branches = valueAt(schema, "anyOf");
    // Extends an existing choice rather than wrapping it.
    if (branches?.type === "Array" && schema.type === "Object" && branches.elements.length > 0) {
      if (hasOnly(schema, (name) => name === "anyOf" || constrainsNothing(name))) {
        this.moves.append(branches, alternative);
        return;
      }
    }
    this.moves.offer(schema, alternative);
  }

  /** Lets a reference stand by the pattern or the type that is there, if nothing else in the schema is in its way. */
  #extend(schema: ObjectNode): boolean {
    const pattern = valueAt(schema, "pattern");
    if (pattern?.type === "String" && hasOnly(schema, isBesidePattern)) {
      const reference = this.#side === "output" ? TEXT_WITH_REFERENCE : REFERENCE;
      this.moves.replace(pattern, JSON.stringify(`${pattern.value}|${reference}`));
      return true;
    }
    const type = valueAt(schema, "type");
    if (this.#manner !== "type" || type?.type !== "String" || !hasOnly(schema, isOfContainers)) return false;
    this.moves.replace(type, `["${type.value}","string"]`);
    return true;
  }

  /** The schema for a diverted value, at a place whose pointers start from `base`. Runs within a text of a result become references too. */
  alternativeWithin(base: ObjectNode): string {
    if (this.#side === "input") return toPatternSchema(REFERENCE);
    // Hosts that take definitions away from arguments leave results alone. In a schema with an id of its own, pointers start there.
    if (base !== this.#root) return toPatternSchema(TEXT_WITH_REFERENCE);
    this.#isDefined = true;
    return `{"$ref":"#/$defs/${this.#definition}"}`;
  }

  get #definition(): string {
    const taken = valueAt(valueAt(this.#root, "$defs"), DEFINITION);
    return taken === undefined || stringAt(taken, "pattern") === TEXT_WITH_REFERENCE
      ? DEFINITION
      : `${DEFINITION}_of_sluice`;
  }

  /** Adds the definition that alternatives refer to, if any does: as the last member, behind whatever becomes of the others. */
  definitionEdits(): Edit[] {
    if (!this.#isDefined) return [];
    const definitions = valueAt(this.#root, "$defs");
    const member = `"${this.#definition}":${toPatternSchema(TEXT_WITH_REFERENCE)}`;
    if (definitions === undefined) {
      return [{ at: findSpan(this.#root).end - 1, remove: 0, insert: `,"$defs":{${member}}` }];
    }
    const isThere = definitions.type !== "Object" || valueAt(definitions, this.#definition) !== undefined;
    return isThere ? [] : [appendEdit(definitions, member)];
  }

  #isWanted(schema: ValueNode, kinds: number): boolean {
    if (this.#side === "output") return (kinds & DIVERTIBLE) !== 0;
    // An argument that may be anything needs no change, unless its schema says something about strings.
    const isAboutStrings = kinds !== ANYTHING || OF_STRINGS.some((keyword) => valueAt(schema, keyword) !== undefined);
    const isConstant = valueAt(schema, "const") !== undefined || valueAt(schema, "enum") !== undefined;
    return (kinds & LONG_STRING) !== 0 && isAboutStrings && !isConstant;
  }

  #enter(schema: ValueNode, base: ObjectNode): void {
    if (schema.type !== "Object" || this.#seen.has(schema)) return;
    this.#seen.add(schema);
    this.#waiting.push({ schema, base: baseWithin(schema, base) });
  }

  #schema({ schema, base }: { readonly schema: ObjectNode; readonly base: ObjectNode }): void {
    for (const subschema of listSubschemas(schema)) {
      this.#subschema(subschema, base);
      this.#enter(subschema.node, base);
    }
    this.#conditions(schema, base);
    this.#counts(schema, base);
    if (this.#side === "output") this.#contents(schema, base);
    const reference = readReference(schema, base);
    if (reference === undefined) return;
    this.#references.push(reference);
    const target = follow(reference);
    if (target !== undefined && !isThroughData(target)) this.#enter(target.schema, reference.base);
  }

  #subschema({ keyword, about, node }: Subschema, base: ObjectNode): void {
    if (about === "part") this.position(node, base);
    if (keyword.startsWith("unevaluated")) this.#unevaluated.push(node);
  }

  /** Loosens conditions that a reference within the value could invert. */
  #conditions(schema: ObjectNode, base: ObjectNode): void {
    const not = valueAt(schema, "not");
    if (not !== undefined && !this.#steadiness.ofWhole(not, base)) {
      if (!listAt(not, "allOf").some(isNever)) this.moves.wrap(not, '{"allOf":[', ",false]}", "/allOf/0");
    }
    const condition = valueAt(schema, "if");
    if (condition !== undefined && !this.#steadiness.ofWhole(condition, base)) {
      this.#hasLooseCondition = true;
      for (const branch of [valueAt(schema, "then"), valueAt(schema, "else")]) {
        if (branch !== undefined) this.#loosen(branch);
      }
    }
    const branches = valueAt(schema, "oneOf");
    if (branches?.type === "Array" && !this.#staysExclusive(listAt(schema, "oneOf"), base)) this.moves.gather(branches);
  }

  /**
   * Whether as many branches hold after a diversion as before: their kinds differ, or diversions do not affect them.
   */
  #staysExclusive(branches: readonly ValueNode[], base: ObjectNode): boolean {
    if (branches.length < 2 || branches.every((branch) => this.#steadiness.ofWhole(branch, base))) return true;
    let seen = 0;
    return branches.every((branch) => {
      const kinds = this.#values.of(branch, base);
      const all = (kinds & STRING) === 0 ? kinds : kinds | STRING;
      const isFree = (seen & all) === 0;
      seen |= all;
      return isFree;
    });
  }

  #loosen(schema: ValueNode): void {
    if (isOpen(schema) || listAt(schema, "anyOf").some(isOpen)) return;
    this.moves.wrap(schema, '{"anyOf":[', ",true]}", "/anyOf/0");
  }

  /** Loosens limits on matching items if a diversion may add matches. */
  #counts(schema: ObjectNode, base: ObjectNode): void {
    const contained = valueAt(schema, "contains");
    const most = valueAt(schema, "maxContains");
    if (contained !== undefined && most?.type === "Number" && !this.#steadiness.ofPart(contained, base)) {
      this.moves.replace(most, String(Number.MAX_SAFE_INTEGER));
    }
  }

  /** Loosens uniqueness of items and patterns of names, which diversions may break. */
  #contents(schema: ObjectNode, base: ObjectNode): void {
    const unique = valueAt(schema, "uniqueItems");
    if (unique?.type === "Boolean" && unique.value && this.#mayDivertItems(schema, base)) {
      this.moves.replace(unique, "false");
    }
    const patterns = valueAt(schema, "patternProperties");
    if (patterns?.type !== "Object" || patterns.members.length === 0) return;
    // Bytes in a member's name become a reference too.
    if (isClosed(schema) && valueAt(patterns, TEXT_WITH_REFERENCE) === undefined) {
      this.moves.append(patterns, `${JSON.stringify(TEXT_WITH_REFERENCE)}:{}`);
    }
  }

  #mayDivertItems(schema: ObjectNode, base: ObjectNode): boolean {
    const items = valueAt(schema, "items");
    return items === undefined || items.type === "Array" || (this.#values.of(items, base) & DIVERTIBLE) !== 0;
  }
}

/** Whether a keyword beside a pattern lets every text stand that the pattern lets. */
function isBesidePattern(name: string): boolean {
  return name === "type" || name === "pattern" || constrainsNothing(name);
}

/** Whether a keyword says nothing of a text. */
function isOfContainers(name: string): boolean {
  return OF_CONTAINERS.has(name) || constrainsNothing(name);
}

const OF_CONTAINERS: ReadonlySet<string> = new Set(
  (
    "type items prefixItems additionalItems unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems " +
    "properties patternProperties additionalProperties unevaluatedProperties propertyNames required minProperties maxProperties " +
    "dependentRequired dependentSchemas dependencies"
  ).split(" "),
);

/** Keywords about strings. */
const OF_STRINGS = ["pattern", "format", "minLength", "maxLength", "contentEncoding", "contentMediaType"];

function isNever(schema: ValueNode): boolean {
  return schema.type === "Boolean" && !schema.value;
}

function toPatternSchema(pattern: string): string {
  return JSON.stringify({ type: "string", pattern });
}

interface Wrap {
  readonly before: string;
  readonly behind: string;
  /** Pointer from the replacement to the node. */
  readonly path: string;
}

/** Collects the changes of one schema document. */
class Moves {
  readonly #text: string;
  readonly #wraps = new Map<ValueNode, Wrap>();
  readonly #edits: Edit[] = [];
  readonly #root: ObjectNode;
  readonly #side: Side;
  /** Members of the root that moved into the first branch of a new `anyOf`. */
  #moved: ReadonlySet<string> = new Set();
  /** Pointer to where the root's constraints moved. */
  #rootPath = "";

  constructor(text: string, root: ObjectNode, side: Side) {
    this.#text = text;
    this.#root = root;
    this.#side = side;
  }

  /** Wraps a node, outside of previous wraps. */
  wrap(node: ValueNode, before: string, behind: string, path: string): void {
    const inner = this.#wraps.get(node) ?? { before: "", behind: "", path: "" };
    this.#wraps.set(node, {
      before: before + inner.before,
      behind: inner.behind + behind,
      path: path + inner.path,
    });
  }

  /** Offers an alternative schema, and keeps annotations of the position visible; of arguments, extensions too, which hosts go by. */
  offer(schema: ValueNode, alternative: string): void {
    const members = schema.type === "Object" ? schema.members : [];
    const shown = members
      .filter(
        (member) => ANNOTATIONS.has(readName(member)) || (this.#side === "input" && isExtension(readName(member))),
      )
      .map((member) => `${sliceSource(this.#text, member)},`);
    // Extensions also stay where they were, because references may lead into them.
    if (schema.type === "Object") this.#edits.push(...removeEdits(schema, (name) => ANNOTATIONS.has(name)));
    this.wrap(schema, `{${shown.join("")}"anyOf":[`, `,${alternative}]}`, "/anyOf/0");
  }

  /** Combines the branches of a `oneOf` into one branch of which any may hold. */
  gather(branches: ArrayNode): void {
    const { start, end } = findSpan(branches);
    this.#edits.push({ at: start + 1, remove: 0, insert: '{"anyOf":[' }, { at: end - 1, remove: 0, insert: "]}" });
    this.wrap(branches, "", "", "/0/anyOf");
  }

  /** Appends an element or member. */
  append(container: ArrayNode | ObjectNode, insert: string): void {
    this.#edits.push(appendEdit(container, insert));
  }

  /** Replaces a scalar. */
  replace(node: ValueNode, insert: string): void {
    this.#edits.push(replaceEdit(node, insert));
  }

  /** Sets which members of the root move into `#/anyOf/0`, and whether they are all of its constraints. */
  moveFromRoot(names: ReadonlySet<string>, isAll: boolean): void {
    this.#moved = names;
    this.#rootPath = isAll && names.size > 0 ? "/anyOf/0" : "";
  }

  /** The new text of a reference after everything has moved. */
  relocated(reference: Reference): string {
    const { value } = reference.node;
    const target = follow(reference);
    if (target === undefined) return value;
    const isRoot = reference.base === this.#root;
    let pointer = isRoot && target.steps.length === 0 ? this.#rootPath : "";
    for (const [index, { part, name, node }] of target.steps.entries()) {
      if (isRoot && index === 0 && this.#moved.has(name)) pointer += "/anyOf/0";
      pointer += `/${part}${this.#wraps.get(node)?.path ?? ""}`;
    }
    const [document = ""] = value.split("#", 1);
    return pointer === "" ? value : `${document}#${pointer}`;
  }

  /** All changes as splices of the text. */
  edits(): Edit[] {
    const wraps = [...this.#wraps].flatMap(([node, { before, behind }]) => wrapEdits(node, before, behind));
    return [...wraps, ...this.#edits];
  }
}
