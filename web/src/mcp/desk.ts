/**
 * What a client asks for that a door answers itself, or has to change before the server sees it.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { AnswerRef } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import { artifactsNamed, putArtifacts, type ArgumentsContext, type Expanded, type Expansion } from "./arguments.js";
import { Expander, type ArgumentTerms, type CalledTool } from "./arguments/expander.js";
import type { Catalog, ServerFacts } from "./catalog.js";
import type { ClientRequest } from "./client-request.js";
import { applyEdits, parseJson, replaceEdit, sourceOf, valueAt, type ValueNode } from "./json-text.js";
import type { ReadTool } from "./reading/definition.js";
import { ArtifactReading, listing, readTool, resourceTemplate } from "./reading/reading.js";
import { ArtifactSource } from "./reading/source.js";
import { errorMessage, objectOr, resultMessage, RpcCode, stringOr } from "./rpc.js";

/** What a desk is made of; the namespace is the prefix of our own tool as well. */
export interface DeskTerms extends ArgumentTerms {
  /** Whose artifacts these are. */
  readonly scope: ArtifactScope;
}

/** What becomes of a request: it goes on, as it came or as another text, or is answered here. */
export type Taken =
  | { readonly kind: "forward"; readonly text?: string; readonly expansions?: readonly Expansion[] }
  | { readonly kind: "answer"; readonly answer: Promise<string>; readonly failure?: SluiceError };

/** A request of which that is not known before a store was asked. `take` throws what the signal gives. */
export interface Held {
  readonly kind: "hold";
  readonly take: (signal: AbortSignal) => Promise<Taken>;
}

/** Artifacts that are listed as resources: what was stored last. */
const MAX_LISTED = 1000;

const FORWARD: Taken = { kind: "forward" };

/** Answers in the server's place. */
export class Desk {
  readonly tool: ReadTool;
  /** What the server told of itself, once it did. */
  server: ServerFacts | undefined;
  readonly #terms: DeskTerms;
  readonly #catalog: Catalog;
  readonly #source: ArtifactSource;
  readonly #reading: ArtifactReading;
  /** What this door stored, by id. */
  readonly #minted = new Map<string, AnswerRef>();
  readonly #expander: Expander;

  constructor(terms: DeskTerms, catalog: Catalog) {
    this.#terms = terms;
    this.#catalog = catalog;
    this.#expander = new Expander(terms);
    this.tool = readTool(terms.namespace);
    this.#source = new ArtifactSource(terms.store, terms.scope, terms.namespace);
    this.#reading = new ArtifactReading(this.#source, { tool: this.tool.name });
  }

  /** Notes what was stored, for lists. */
  mint(refs: readonly AnswerRef[]): void {
    for (const ref of refs) {
      if (ref.source["truncated"] === true) continue;
      this.#minted.delete(ref.id);
      this.#minted.set(ref.id, ref);
    }
    for (const id of this.#minted.keys()) {
      if (this.#minted.size <= MAX_LISTED) break;
      this.#minted.delete(id);
    }
  }

  /** What `resources/list` shows of it. */
  resources(): readonly object[] {
    return [...this.#minted.values()].map((ref) => listing(ref));
  }

  /** What `resources/templates/list` shows. */
  templates(): readonly object[] {
    return [resourceTemplate(this.#terms.namespace)];
  }

  /** Looks at a request before the server does. */
  take(request: ClientRequest): Taken | Held {
    const { method, params } = request;
    switch (method) {
      case "tools/call":
        return this.#call(request);
      case "resources/read":
        return this.#isOurs(params["uri"]) ? this.#read(request, String(params["uri"])) : FORWARD;
      case "resources/list":
        return this.#listed(request, "resources", () => this.resources());
      case "resources/templates/list":
        return this.#listed(request, "resourceTemplates", () => this.templates());
      default:
        return FORWARD;
    }
  }

  #call(request: ClientRequest): Taken | Held {
    const name = stringOr(request.params["name"]);
    if (name === undefined) return FORWARD;
    if (name === this.tool.name && this.#catalog.find(name) === undefined) {
      return this.#answer(request, () => this.#reading.call(request.params["arguments"]));
    }
    const expansion = expansionOf(request, name);
    if (expansion === undefined) return FORWARD;
    const tool = (): CalledTool => {
      const listed = this.#catalog.find(name);
      return { name, inputSchema: listed?.inputSchema, meta: listed?.meta };
    };
    const { scope } = this.#terms;
    const expand = (context: ArgumentsContext): Promise<Taken> => this.#expand(request, expansion, context);
    return { kind: "hold", take: (signal) => this.#expander.expand(tool, { scope, signal }, expand) };
  }

  async #expand(request: ClientRequest, expansion: CallExpansion, context: ArgumentsContext): Promise<Taken> {
    const expanded = await expansion(context);
    if (expanded.kind === "unchanged") return FORWARD;
    if (expanded.kind === "expanded") return { kind: "forward", text: expanded.text, expansions: expanded.expansions };
    const { result, failure } = expanded;
    return { ...this.#answer(request, async () => result), ...(failure !== undefined && { failure }) };
  }

  /** A server without resources does not know the method. */
  #listed(request: ClientRequest, list: string, entries: () => readonly object[]): Taken {
    if (this.server === undefined || !this.server.hasTools || this.server.hasResources) return FORWARD;
    return this.#answer(request, async () => ({ [list]: entries(), ...cachedBy(request) }));
  }

  #read(request: ClientRequest, uri: string): Taken {
    return this.#answer(request, async () => ({ ...(await this.#reading.resource(uri)), ...cachedBy(request) }));
  }

  #isOurs(uri: unknown): boolean {
    return typeof uri === "string" && uri.startsWith(`artifact://${this.#terms.namespace}_`);
  }

  #answer(request: ClientRequest, work: () => Promise<object>): Taken & { readonly kind: "answer" } {
    const { id, isModern } = request;
    const answer = work().then(
      (result) => resultMessage(id, isModern ? { resultType: "complete", ...result } : result),
      (error: unknown) => failed(request, error),
    );
    return { kind: "answer", answer };
  }
}

/** What is read or listed here is this client's alone, and may change at any time (2026-07-28, Caching). */
function cachedBy({ isModern }: ClientRequest): object {
  return isModern ? { ttlMs: 0, cacheScope: "private" } : {};
}

function failed({ id, isModern, params }: ClientRequest, error: unknown): string {
  const { code, message } =
    error instanceof SluiceError ? error : new SluiceError("E_STORE_READ", "The artifact could not be read.");
  const isMissing = code === "E_NOT_FOUND" || code === "E_EXPIRED";
  const number = !isMissing ? RpcCode.internal : isModern ? RpcCode.invalidParams : RpcCode.resourceNotFound;
  return errorMessage(id, number, message, {
    code,
    ...objectOr(params["uri"] !== undefined && { uri: params["uri"] }),
  });
}

/** Puts artifacts into a call; what comes of it is the whole message. Throws what the signal gives. */
type CallExpansion = (context: ArgumentsContext) => Promise<Expanded>;

/** Looks at the arguments and nothing else of the message, without a store; undefined where nothing is named. */
function expansionOf({ text }: ClientRequest, tool: string): CallExpansion | undefined {
  // Most calls name none, and are not even parsed; an escape may hide a letter.
  if (!/artifact:|\\u/.test(text)) return undefined;
  const node = argumentsIn(text);
  if (node === undefined) return undefined;
  const given = sourceOf(text, node);
  const named = artifactsNamed(given, tool);
  if (named === undefined) return undefined;
  return async (context) => {
    const rest = new TextEncoder().encode(text).length - new TextEncoder().encode(given).length;
    const expanded = await putArtifacts(named, { ...context, maxBytes: MAX_MESSAGE - rest });
    if (expanded.kind !== "expanded") return expanded;
    return { ...expanded, text: applyEdits(text, [replaceEdit(node, expanded.text)]) };
  };
}

function argumentsIn(text: string): ValueNode | undefined {
  try {
    return valueAt(valueAt(parseJson(text), "params"), "arguments");
  } catch {
    // What is too deep or too large to be read goes on as it is.
    return undefined;
  }
}
