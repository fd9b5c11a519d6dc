/**
 * Handles requests that the interceptor answers itself, or changes before the server sees them.
 * @module
 */
import type { ArtifactRef, ArtifactScope } from "../artifacts/store.js";
import type { AnswerRef, ArtifactTool } from "../core/types.js";
import { SluiceError } from "../errors/error.js";
import { MAX_MESSAGE } from "../jsonrpc/limits.js";
import {
  artifactsNamed,
  putArtifacts,
  type ArgumentsContext,
  type Expanded,
  type Expansion,
} from "./arguments/arguments.js";
import { Expander, type ArgumentDeps, type CalledTool } from "./arguments/expander.js";
import type { Catalog, ServerFacts } from "./catalog.js";
import type { ClientRequest } from "./client-request.js";
import { applyEdits, parseJson, replaceEdit, sliceSource, valueAt, type ValueNode } from "../json/text.js";
import {
  ArtifactReader,
  type ArtifactReaderOptions,
  listing,
  type ReadResourceOptions,
  readToolName,
  resourceTemplate,
} from "./artifact-reader/artifact-reader.js";
import { ArtifactSource } from "./artifact-reader/source.js";
import { appContents, appUri } from "./artifact-app/artifact-app.js";
import { artifactToolsOver } from "./artifact-tools.js";
import { errorMessage, objectOr, resultMessage, RpcCode, stringOr } from "../jsonrpc/rpc.js";

/** Dependencies of a handler. The namespace is also the prefix of our tools. */
export interface ClientRequestDeps
  extends ArgumentDeps, Pick<ArtifactReaderOptions, "sluice" | "showsImages" | "maxChars"> {
  /** The owner of the artifacts. */
  readonly scope: ArtifactScope;
  /** What the client's model calls one of our tools. Left out: its name. */
  readonly nameForModel?: (tool: string) => string;
  /** Whether the server is our own, which puts artifacts into arguments and has results written by `writeResult`. */
  readonly isOwnServer?: boolean;
}

/** What to do with a request: forward it, as it came or rewritten, or answer it here. */
export type RequestOutcome =
  | { readonly kind: "forward"; readonly text?: string; readonly expansions?: readonly Expansion[] }
  | { readonly kind: "answer"; readonly answer: Promise<string>; readonly failure?: SluiceError };

/** A request that has to wait for a store before its outcome is known. `resolve` throws the signal's reason. */
export interface DeferredRequest {
  readonly kind: "defer";
  readonly resolve: (signal: AbortSignal) => Promise<RequestOutcome>;
}

/** Most artifacts that are listed as resources: the last ones stored. */
const MAX_LISTED = 1000;

const FORWARD: RequestOutcome = { kind: "forward" };

/** Answers in the server's place. */
export class ClientRequestHandler {
  /** Our own tools, in the order in which they are listed. */
  readonly tools: readonly ArtifactTool[];
  /** The server's capabilities, once known. */
  server: ServerFacts | undefined;
  /** Whether the server lists a resource at the URI of our app, which then is the server's. */
  isAppTaken = false;
  readonly #deps: ClientRequestDeps;
  readonly #catalog: Catalog;
  readonly #reading: ArtifactReader;
  /** Artifacts stored by this interceptor, by id. */
  readonly #known = new Map<string, AnswerRef>();
  readonly #expander: Expander;

  /** `onStored` is called with the name of our own tool that stored an artifact, and with the artifact. */
  constructor(
    deps: ClientRequestDeps,
    catalog: Catalog,
    onStored: (tool: string, ref: ArtifactRef) => void = () => undefined,
  ) {
    this.#deps = deps;
    this.#catalog = catalog;
    this.#expander = new Expander(deps);
    const source = new ArtifactSource(deps.store, deps.scope, deps.namespace);
    this.tools = artifactToolsOver(deps.namespace, {
      source,
      sluice: deps.sluice,
      showsImages: deps.showsImages,
      maxChars: deps.maxChars,
      ...(deps.nameForModel !== undefined && { nameForModel: deps.nameForModel }),
      onStored: (tool, ref) => {
        this.remember([ref]);
        onStored(tool, ref);
      },
    });
    const { namespace, nameForModel = (name) => name } = deps;
    this.#reading = new ArtifactReader(source, {
      sluice: deps.sluice,
      tool: () => nameForModel(readToolName(namespace)),
    });
  }

  /** Remembers stored artifacts, for lists. */
  remember(refs: readonly AnswerRef[]): void {
    for (const ref of refs) {
      if (ref.source["truncated"] === true) continue;
      this.#known.delete(ref.id);
      this.#known.set(ref.id, ref);
    }
    for (const id of this.#known.keys()) {
      if (this.#known.size <= MAX_LISTED) break;
      this.#known.delete(id);
    }
  }

  /** Our entries in `resources/list`. */
  resources(): readonly object[] {
    return [...this.#known.values()].map((ref) => listing(ref));
  }

  /** Our entries in `resources/templates/list`. */
  templates(): readonly object[] {
    return [resourceTemplate(this.#deps.namespace)];
  }

  /** Whether our app shows results of our tools, for clients that show apps. */
  get offersApp(): boolean {
    const { namespace } = this.#deps;
    return !this.isAppTaken && !this.#catalog.hasApp(appUri(namespace));
  }

  /**
   * Handles a request before the server sees it. `showsApps` tells whether its client shows apps. The signal ends the work on an answer,
   * which then is an error.
   */
  handle(request: ClientRequest, showsApps = false, signal?: AbortSignal): RequestOutcome | DeferredRequest {
    const { method, params } = request;
    switch (method) {
      case "tools/call":
        return this.#call(request, signal);
      case "resources/read":
        if (this.#isOurs(params["uri"])) {
          const options = { isDescribed: showsApps, ...(signal !== undefined && { signal }) };
          return this.#read(request, String(params["uri"]), options);
        }
        return showsApps && params["uri"] === appUri(this.#deps.namespace) ? this.#readApp(request) : FORWARD;
      case "resources/list":
        return this.#list(request, "resources", () => this.resources());
      case "resources/templates/list":
        return this.#list(request, "resourceTemplates", () => this.templates());
      default:
        return FORWARD;
    }
  }

  #call(request: ClientRequest, cancelled: AbortSignal | undefined): RequestOutcome | DeferredRequest {
    const name = stringOr(request.params["name"]);
    if (name === undefined) return FORWARD;
    const own = this.tools.find((tool) => this.#catalog.chooseName(tool.name) === name);
    if (own !== undefined) {
      return this.#answer(request, () =>
        own.call(request.params["arguments"], cancelled === undefined ? {} : { signal: cancelled }),
      );
    }
    const expansion = this.#deps.isOwnServer === true ? undefined : findExpansion(request, name);
    if (expansion === undefined) return FORWARD;
    const tool = (): CalledTool => {
      const listed = this.#catalog.find(name);
      return { name, inputSchema: listed?.inputSchema, meta: listed?.meta };
    };
    const { scope } = this.#deps;
    const expand = (context: ArgumentsContext): Promise<RequestOutcome> => this.#expand(request, expansion, context);
    return { kind: "defer", resolve: (signal) => this.#expander.expand(tool, { scope, signal }, expand) };
  }

  async #expand(request: ClientRequest, expansion: CallExpansion, context: ArgumentsContext): Promise<RequestOutcome> {
    const expanded = await expansion(context);
    if (expanded.kind === "unchanged") return FORWARD;
    if (expanded.kind === "expanded") return { kind: "forward", text: expanded.text, expansions: expanded.expansions };
    const { result, failure } = expanded;
    return { ...this.#answer(request, async () => result), ...(failure !== undefined && { failure }) };
  }

  /** Answers for a server that has no resources and does not know the method. */
  #list(request: ClientRequest, list: string, entries: () => readonly object[]): RequestOutcome {
    if (this.server === undefined || !this.server.hasTools || this.server.hasResources) return FORWARD;
    return this.#answer(request, async () => ({ [list]: entries(), ...limitCaching(request) }));
  }

  #read(request: ClientRequest, uri: string, options: ReadResourceOptions): RequestOutcome {
    return this.#answer(request, async () => ({
      ...(await this.#reading.resource(uri, options)),
      ...limitCaching(request),
    }));
  }

  /** Answers with the page, unless the server has one of that name. */
  #readApp(request: ClientRequest): RequestOutcome | DeferredRequest {
    if (!this.offersApp) return FORWARD;
    const resolve = async (): Promise<RequestOutcome> => {
      const page = await appContents(appUri(this.#deps.namespace));
      return page === undefined ? FORWARD : this.#answer(request, async () => ({ ...page, ...limitCaching(request) }));
    };
    return { kind: "defer", resolve };
  }

  /** Whether a URI names an artifact: by its form, or by the id that a host's own store gave it. */
  #isOurs(uri: unknown): boolean {
    if (typeof uri !== "string" || !uri.startsWith("artifact://")) return false;
    const id = uri.slice("artifact://".length);
    return id.startsWith(`${this.#deps.namespace}_`) || this.#known.has(id.split("?", 1)[0] ?? "");
  }

  #answer(request: ClientRequest, work: () => Promise<object>): RequestOutcome & { readonly kind: "answer" } {
    const { id, isModern } = request;
    const answer = work().then(
      (result) => resultMessage(id, isModern ? { resultType: "complete", ...result } : result),
      (error: unknown) => errorFor(request, error),
    );
    return { kind: "answer", answer };
  }
}

/** What is read or listed here is private to this client and may change at any time (MCP 2026-07-28, Caching). */
function limitCaching({ isModern }: ClientRequest): object {
  return isModern ? { ttlMs: 0, cacheScope: "private" } : {};
}

function errorFor({ id, isModern, params }: ClientRequest, error: unknown): string {
  if (error instanceof DOMException && error.name === "AbortError") {
    return errorMessage(id, RpcCode.internal, "The call was cancelled.", { code: "E_CANCELLED" });
  }
  const { code, message } =
    error instanceof SluiceError ? error : new SluiceError("E_STORE_READ", "The artifact could not be read.");
  const isMissing = code === "E_NOT_FOUND" || code === "E_EXPIRED";
  const number = !isMissing ? RpcCode.internal : isModern ? RpcCode.invalidParams : RpcCode.resourceNotFound;
  return errorMessage(id, number, message, {
    code,
    ...objectOr(params["uri"] !== undefined && { uri: params["uri"] }),
  });
}

/** Puts artifacts into a call. The result is the whole message. Throws the signal's reason. */
type CallExpansion = (context: ArgumentsContext) => Promise<Expanded>;

/** Finds artifacts in the arguments, without a store. Undefined if there are none. */
function findExpansion({ text }: ClientRequest, tool: string): CallExpansion | undefined {
  // Most calls name none and are not even parsed. An escape may hide a letter.
  if (!/artifact:|\\u/.test(text)) return undefined;
  const node = argumentsIn(text);
  if (node === undefined) return undefined;
  const given = sliceSource(text, node);
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
    // Too deep or too large to read: it goes on unchanged.
    return undefined;
  }
}
