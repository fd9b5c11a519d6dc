/**
 * What a client asks for that a door answers itself, or has to change before the server sees it.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { AnswerRef } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { ArtifactSource } from "./artifact-source.js";
import type { ArgumentsContext, Expansion } from "./arguments.js";
import { Expander, type ArgumentTerms, type CalledTool } from "./arguments/expander.js";
import type { Catalog } from "./catalog.js";
import { callNaming, type NamingCall } from "./expand-call.js";
import type { ServerFacts } from "./listing.js";
import { ArtifactReading, listing, readTool, resourceTemplate } from "./reading/reading.js";
import type { ReadTool } from "./reading/wire.js";
import { errorMessage, objectOr, resultMessage, RpcCode, stringOr } from "./rpc.js";
import type { ClientRequest } from "./client-request.js";

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
    const call = callNaming(request, name);
    if (call === undefined) return FORWARD;
    const tool = (): CalledTool => {
      const listed = this.#catalog.find(name);
      return { name, inputSchema: listed?.inputSchema, meta: listed?.meta };
    };
    const { scope } = this.#terms;
    const expand = (context: ArgumentsContext): Promise<Taken> => this.#expand(request, call, context);
    return { kind: "hold", take: (signal) => this.#expander.expand(tool, { scope, signal }, expand) };
  }

  async #expand(request: ClientRequest, call: NamingCall, context: ArgumentsContext): Promise<Taken> {
    const expanded = await call.expand(context);
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
