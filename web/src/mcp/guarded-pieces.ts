/**
 * Finds the pieces of a message that may hold bytes or a long text.
 * @module
 */
import { readName, findSpan, type ArrayNode, type ObjectNode, type StringNode, type ValueNode } from "../json/text.js";

/** A piece of a message that is looked into, and replaced as a whole. Pieces never overlap. */
export interface GuardedPiece {
  readonly node: ValueNode;
  /** The name of the member that holds it, or whose value holds it. */
  readonly key: string;
  /**
   * What may stand in its place: a string for a `text` or the name of a member; a list for a `list` of strings or numbers; a content block for
   * a `block`; anything for a `value`.
   */
  readonly kind: "text" | "name" | "list" | "block" | "value";
}

/** How a message is looked through. */
export interface SurveyOptions {
  /** Characters of JSON text that hold nothing: shorter pieces are passed over. */
  readonly least: number;
  /** Whether content blocks may stand in it. Images and sound in them stay, for the model that looks at them. */
  readonly hasBlocks?: boolean;
  /** Members of the outermost object whose values may be anything: those named, or all, of which strings are values then. */
  readonly values?: ReadonlySet<string> | "all";
  /** Members of the outermost object that are not looked at. */
  readonly skips?: ReadonlySet<string>;
}

/** Members for programs, which come back as they are or which no model reads. */
const OPAQUE: ReadonlySet<string> = new Set([
  "_meta",
  "icons",
  "id",
  "taskId",
  "toolUseId",
  "elicitationId",
  "requestId",
  "progressToken",
  "requestState",
  "cursor",
  "nextCursor",
]);

/** Members that are addresses. */
const ADDRESSES: ReadonlySet<string> = new Set([
  "uri",
  "url",
  "uriTemplate",
  "uri_template",
  "websiteUrl",
  "resourceUri",
  "$id",
  "$ref",
  "$schema",
]);

/** Most characters of an address that stays. */
const MAX_ADDRESS = 10_000;

/** Returns the pieces in which something could be found. */
export function surveyStrings(root: ValueNode, options: SurveyOptions): readonly GuardedPiece[] {
  const survey = new Survey(options);
  survey.visit(root, "", true);
  return survey.pieces;
}

class Survey {
  readonly pieces: GuardedPiece[] = [];
  readonly #options: SurveyOptions;

  constructor(options: SurveyOptions) {
    this.#options = options;
  }

  visit(node: ValueNode, key: string, isOutermost = false): void {
    if (!this.#isLong(node)) return;
    if (node.type === "String") this.#add(node, key, "text");
    else if (node.type === "Array") this.#visitList(node, key);
    else if (node.type === "Object") this.#visitObject(node, key, isOutermost);
  }

  #visitList(list: ArrayNode, key: string): void {
    const isPlain = list.elements.every(({ value: { type } }) => type === "String" || type === "Number");
    // A file may be a list of bytes, or stand in a list line by line.
    if (isPlain) this.#add(list, key, "list");
    else for (const { value } of list.elements) this.visit(value, key);
  }

  #visitObject(object: ObjectNode, key: string, isOutermost: boolean): void {
    const { hasBlocks = false, values, skips } = this.#options;
    const types = hasBlocks ? blockTypes(object) : [];
    if (types.includes("resource") && object.members.some(({ value }) => hasBlob(value))) {
      this.#add(object, key, "block");
      return;
    }
    const isMedia = types.length === 1 && (types[0] === "image" || types[0] === "audio");
    for (const { name, value } of object.members) {
      const known = name.type === "String" ? name.value : name.name;
      if (name.type === "String" && this.#isLong(name)) this.#add(name, known, "name");
      if (isOutermost && skips?.has(known) === true) continue;
      if (isOutermost && (values === "all" || values?.has(known) === true)) this.#visitValue(value, known);
      else if (!(isMedia && known === "data") && !isKept(known, value)) this.visit(value, known);
    }
  }

  /** A value of any form is looked into at once, unless it has names that are so long that they are looked into too. */
  #visitValue(value: ValueNode, key: string): void {
    if (!this.#isLong(value)) return;
    const isText = value.type === "String" && this.#options.values !== "all";
    if (isText || this.#hasLongName(value)) this.visit(value, key);
    else this.#add(value, key, "value");
  }

  #hasLongName(node: ValueNode): boolean {
    if (!this.#isLong(node)) return false;
    if (node.type === "Array") return node.elements.some(({ value }) => this.#hasLongName(value));
    if (node.type !== "Object") return false;
    return node.members.some(({ name, value }) => this.#isLong(name as StringNode) || this.#hasLongName(value));
  }

  #isLong(node: ValueNode): boolean {
    const { start, end } = findSpan(node);
    return end - start >= this.#options.least;
  }

  #add(node: GuardedPiece["node"], key: string, kind: GuardedPiece["kind"]): void {
    this.pieces.push({ node, key, kind });
  }
}

function isKept(key: string, value: ValueNode): boolean {
  if (OPAQUE.has(key)) return true;
  if (!ADDRESSES.has(key) || value.type !== "String") return false;
  return value.value.length <= MAX_ADDRESS && !/^\s*data:/i.test(value.value);
}

/** The types that an object says it has: readers differ in which of two they take. */
function blockTypes({ members }: ObjectNode): readonly string[] {
  return members.flatMap((member) =>
    readName(member) === "type" && isString(member.value) ? [member.value.value] : [],
  );
}

function hasBlob(node: ValueNode): boolean {
  return node.type === "Object" && node.members.some((member) => readName(member) === "blob");
}

function isString(node: ValueNode): node is StringNode {
  return node.type === "String";
}
