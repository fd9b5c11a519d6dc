/**
 * What a server's lists say about its tools, and what the interceptor adds to the server's answers: tools, a
 * sentence, resources.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { appendEdit, applyEdits, parseJson, valueAt, type Edit, type ObjectNode } from "../json/text.js";
import type { ToolDefinition } from "./artifact-reader/definition.js";
import { objectOr, stringOr } from "../jsonrpc/rpc.js";
import { schemaEdits, type SchemaMode } from "./schemas/schemas.js";

/** The parts of a listed tool that matter here. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema: unknown;
  /** Whether it has a schema of its results. */
  readonly isTyped: boolean;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Most tools that are remembered. */
const MAX_TOOLS = 4096;

interface CatalogOptions {
  readonly reserved?: readonly string[];
  /** Called once, when the limit is reached. */
  readonly onFull?: (error: SluiceError) => void;
  /** Called for each list, with the names of all tools that are remembered. */
  readonly onListed?: (names: readonly string[]) => void;
}

const ignore = (): void => undefined;

/** Tools by name, as last listed. Beyond the limit, the first ones are kept. */
export class Catalog {
  readonly #tools = new Map<string, ListedTool>();
  readonly #reserved: readonly string[];
  readonly #onFull: (error: SluiceError) => void;
  readonly #onListed: (names: readonly string[]) => void;
  #isFull = false;
  #hasListedOwn = false;

  /** Tools of the names in `reserved` are remembered beyond the limit. */
  constructor({ reserved = [], onFull = ignore, onListed = ignore }: CatalogOptions = {}) {
    this.#reserved = reserved;
    this.#onFull = onFull;
    this.#onListed = onListed;
  }

  /** Whether the client was given a list with our tools in it. */
  get hasListedOwn(): boolean {
    return this.#hasListedOwn;
  }

  /** Names our tools for a list that the client is about to get. */
  listOwn(tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
    this.#hasListedOwn = true;
    return tools.map((tool) => ({ ...tool, name: this.chooseName(tool.name) }));
  }

  /** Adds the tools of a `tools/list` result. */
  note(tools: unknown): void {
    if (!Array.isArray(tools)) return;
    for (const tool of tools as unknown[]) {
      const { name, inputSchema, outputSchema, _meta } = objectOr(tool);
      if (typeof name !== "string") continue;
      const isTyped = outputSchema !== undefined;
      if (this.#hasRoom(name)) this.#tools.set(name, { name, inputSchema, isTyped, meta: objectOr(_meta) });
      else this.#tellFull();
    }
    this.#onListed([...this.#tools.keys()]);
  }

  #hasRoom(name: string): boolean {
    return this.#tools.size < MAX_TOOLS || this.#tools.has(name) || this.#reserved.includes(name);
  }

  #tellFull(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    const sentence = `The server lists more than ${MAX_TOOLS} tools. The rest can be called, but they take artifacts only with ?as=, and their results are reduced even if only an app reads them: configure the server to offer fewer.`;
    this.#onFull(new SluiceError("E_TOO_LARGE", sentence));
  }

  find(name: string | undefined): ListedTool | undefined {
    return name === undefined ? undefined : this.#tools.get(name);
  }

  /** A name for one of our tools that no tool of the server's has: its own, or with the first number from 2 that is free. */
  chooseName(own: string): string {
    let name = own;
    for (let number = 2; this.#tools.has(name); number++) name = `${own}_${number}`;
    return name;
  }

  /** Whether a tool of the server's is shown by an app at a URI (MCP Apps, `resourceUri`). */
  hasApp(uri: string): boolean {
    return [...this.#tools.values()].some(
      ({ meta }) => objectOr(meta["ui"])["resourceUri"] === uri || meta["ui/resourceUri"] === uri,
    );
  }

  /** Whether a tool answers only the host's app and never its model (MCP Apps, `visibility: ["app"]`). */
  isAppOnly(name: string | undefined): boolean {
    const { visibility } = objectOr(this.find(name)?.meta["ui"]);
    return Array.isArray(visibility) && visibility.length > 0 && visibility.every((who) => stringOr(who) === "app");
  }
}

/** The server's capabilities. */
export interface ServerFacts {
  readonly hasTools: boolean;
  readonly hasResources: boolean;
}

/** The sentence that is appended to a server's instructions. It names our tools as the model knows them. */
export function writeInstruction([reader, editor]: readonly string[]): string {
  return (
    "Large content of tool results is stored, not shown: the result names an artifact:// URI, which you read with the tool " +
    `${reader}, change with ${editor}, or pass as a tool argument.`
  );
}

/**
 * The answer to `tools/list` with our tools added on the last page, under names that the server's leave free. `own` is called when the
 * server's are noted.
 */
export function withTools(
  message: string,
  own: () => readonly ToolDefinition[],
  schemas: { readonly mode: SchemaMode; readonly checksResults: boolean },
  catalog: Catalog,
): string | undefined {
  const result = parseResult(message);
  const tools = valueAt(result, "tools");
  if (result === undefined || tools?.type !== "Array") return undefined;
  catalog.note(objectOr(objectOr(JSON.parse(message))["result"])["tools"]);
  const edits = tools.elements.flatMap(({ value }) => {
    return value.type === "Object" ? schemaEdits(value, message, schemas.mode, schemas.checksResults) : [];
  });
  const added = isLastPage(result) ? catalog.listOwn(own()) : [];
  if (added.length > 0) edits.push(appendEdit(tools, added.map((tool) => JSON.stringify(tool)).join(",")));
  return applyEdits(message, edits);
}

/** The capabilities in the answer to `initialize` or `server/discover`. */
export function readServerFacts(message: string): ServerFacts {
  const { capabilities } = objectOr(objectOr(JSON.parse(message))["result"]);
  const { tools, resources } = objectOr(capabilities);
  return { hasTools: tools !== undefined, hasResources: resources !== undefined };
}

/**
 * The answer to `initialize` or `server/discover` with a sentence added to the instructions and, if the client is to list our artifacts,
 * resources to the capabilities.
 */
export function withIntroduction(message: string, sentence: string, hasResources: boolean): string | undefined {
  const result = parseResult(message);
  const capabilities = valueAt(result, "capabilities");
  if (result === undefined || capabilities?.type !== "Object") return undefined;
  // Without tools nothing is ever stored.
  if (valueAt(capabilities, "tools") === undefined) return undefined;
  const edits = instructionEdits(result, sentence);
  if (hasResources && valueAt(capabilities, "resources") === undefined)
    edits.push(appendEdit(capabilities, '"resources":{}'));
  return applyEdits(message, edits);
}

function instructionEdits(result: ObjectNode, sentence: string): Edit[] {
  const instructions = valueAt(result, "instructions");
  if (instructions === undefined) return [appendEdit(result, `"instructions":${JSON.stringify(sentence)}`)];
  if (instructions.type !== "String") return [];
  const insert = JSON.stringify(instructions.value === "" ? sentence : `\n\n${sentence}`).slice(1, -1);
  return [{ at: instructions.loc.end.offset - 1, remove: 0, insert }];
}

/**
 * The answer to `resources/list` or `resources/templates/list` with entries added on the last page. They are private to
 * this client, so shared caching is switched off.
 */
export function withResources(message: string, list: string, more: readonly object[]): string | undefined {
  const result = parseResult(message);
  const listed = valueAt(result, list);
  if (result === undefined || listed?.type !== "Array" || !isLastPage(result) || more.length === 0) return undefined;
  const edits = [appendEdit(listed, more.map((each) => JSON.stringify(each)).join(","))];
  for (const [name, value] of [
    ["ttlMs", "0"],
    ["cacheScope", '"private"'],
  ] as const) {
    const told = valueAt(result, name);
    if (told === undefined) continue;
    const { start, end } = told.loc;
    edits.push({ at: start.offset, remove: end.offset - start.offset, insert: value });
  }
  return applyEdits(message, edits);
}

function parseResult(message: string): ObjectNode | undefined {
  const result = valueAt(parseJson(message), "result");
  return result?.type === "Object" ? result : undefined;
}

function isLastPage(result: ObjectNode): boolean {
  const next = valueAt(result, "nextCursor");
  return next === undefined || next.type === "Null";
}
