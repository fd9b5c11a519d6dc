/**
 * The interceptor between one MCP client and one server: it reads what each sends and decides what the other gets.
 * @module
 */
import type { ResultClient, Sluice, Transformed, TransformOptions } from "../core/types.js";
import { MessageReader, type MessageSink } from "../jsonrpc/message-reader.js";
import type { JsonRpcScanner } from "../jsonrpc/json-rpc-scanner.js";
import type { MessageOutcome } from "../jsonrpc/message-rewriter.js";
import { errorMessage, objectOr, RpcCode, stringOr } from "../jsonrpc/rpc.js";
import { readToolName } from "./artifact-reader/definition.js";
import { appUri, showsApps, withApp } from "./artifact-app/artifact-app.js";
import { toolDefinitions } from "./artifact-tools.js";
import {
  Catalog,
  readServerFacts,
  writeInstruction,
  withIntroduction,
  withResources,
  withTools,
  type ListedTool,
  type ServerFacts,
} from "./catalog.js";
import {
  ClientRequestHandler,
  type ClientRequestDeps,
  type DeferredRequest,
  type RequestOutcome,
} from "./client-request-handler.js";
import {
  nameToolFor,
  readServerName,
  readWishes,
  readModel,
  recognizeHost,
  type HostProfile,
  measureShown,
} from "./host-profiles.js";
import { readCancelledKey, splitBatch, readRequest, type ClientRequest } from "./client-request.js";
import { fitToHost } from "./host-result.js";
import type { DescriptionGuard } from "./description-guard.js";
import { MessageGuard, type StoredParts } from "./message-guard.js";
import { InFlight, UNWANTED, type Request } from "./in-flight.js";
import { withLinks, withLinksAsText } from "./links.js";
import { nameRefs } from "./named-refs.js";
import type { SchemaMode } from "./schemas/schemas.js";
import { refuseMessage, tooLargeForServer, describeUndelivered, type Refused } from "./message-refusal.js";
import {
  toFailedEnd,
  endOfAnswer,
  requestOperation,
  withMeta,
  withTraceContext,
  type TelemetrySide,
} from "./request-operation.js";
import {
  combineOutcomes,
  type ClientMessageOutcome,
  type Interceptor,
  type MessageWriter,
} from "./interceptor-interface.js";
import { storageError } from "../errors/storage.js";
import { admitTools } from "../telemetry/names.js";
import { readErrorCode, isObserved, type Operation, type OperationEnd } from "../telemetry/operation.js";
import type { InterceptorEvent } from "./interceptor-event.js";
import { markReduced, MAX_WHOLE } from "./whole-result.js";
import { CallLimits, type CallLimitOptions, type LimitedCall } from "./call-limit.js";
import { DROPPED, ResponsePolicy, type AnswerEdit } from "./response-policy.js";
import { showTo } from "./shown-media.js";

export type { InterceptorEvent, ExpandedEvent, FailedEvent, StoredEvent } from "./interceptor-event.js";

/** When to add `resource_link` blocks to results: for clients known to accept them, for all, or for none. */
export type LinkMode = "auto" | "always" | "never";

/** Dependencies of an interceptor. */
export interface InterceptorDeps extends ClientRequestDeps {
  readonly sluice: Sluice;
  readonly links: LinkMode;
  /** Whether the client shows images to its model. Some are known to. */
  readonly showImages: boolean;
  readonly schemas: SchemaMode;
  /** The host that the client is part of, whatever it says of itself. */
  readonly host?: HostProfile;
  /** Whether the configuration says how long a text may be, which counts before what the host shows. */
  readonly hasOwnLimit?: boolean;
  /** The server's name in the host's configuration. Some clients tell it. */
  readonly serverName?: string | undefined;
  readonly onEvent: (event: InterceptorEvent) => void;
  readonly descriptions: DescriptionGuard;
  /** Characters of a message that hold nothing: the least that the configuration lets be taken out. */
  readonly least: number;
  /** Characters of a text that stays in a message. */
  readonly longest: number;
  /** How long tools may be silent. Left out: as long as they like. */
  readonly limit?: CallLimitOptions;
  /** Whose requests telemetry sees: those of a client of a server, or those that a client makes. Defaults to the former. */
  readonly side?: TelemetrySide;
}

const PROGRESS = "notifications/progress";

const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";

/** Most characters that an author's limit may let through: Claude Code takes no more either. */
const MAX_TOOL_LIMIT = 500_000;

/** Stores large content of results, adds tools that read and edit it, and puts artifacts into arguments. */
export class McpInterceptor implements Interceptor {
  readonly #deps: InterceptorDeps;
  readonly #inFlight: InFlight;
  readonly #catalog: Catalog;
  readonly #policy: ResponsePolicy;
  readonly #guard: MessageGuard;
  readonly #requestHandler: ClientRequestHandler;
  /** What the client makes of results. */
  #host: HostProfile;
  /** Whether the client has said who it is. A program that uses the library need not. */
  #isIntroduced: boolean;
  /** The model that the client named with its last call. */
  #model = "";
  /** The server's name in the host's configuration, if it is known. */
  #serverName: string | undefined;
  /** Whether the client shows apps. */
  #showsApps: boolean;
  readonly #limits: CallLimits | undefined;
  /** How many messages of the server have begun and not ended. */
  #receiving = 0;

  /**
   * `beside` is another interceptor of the same client. They share what is known of the server and may see equal ids.
   */
  constructor(deps: InterceptorDeps, beside?: McpInterceptor) {
    this.#deps = deps;
    this.#host = beside === undefined ? (deps.host ?? recognizeHost(undefined)) : beside.#host;
    this.#isIntroduced = beside === undefined ? false : beside.#isIntroduced;
    this.#serverName = beside === undefined ? deps.serverName : beside.#serverName;
    this.#showsApps = beside === undefined ? false : beside.#showsApps;
    this.#inFlight = new InFlight(beside === undefined ? undefined : beside.#inFlight);
    this.#limits = deps.limit && new CallLimits({ ...deps.limit, isReceiving: () => this.#receiving > 0 });
    this.#catalog = beside === undefined ? this.#emptyCatalog() : beside.#catalog;
    this.#policy = new ResponsePolicy({
      inFlight: this.#inFlight,
      catalog: this.#catalog,
      options: (tool) => this.#options(tool),
      written: (reduced, request) => this.#write(reduced, request),
      restored: ({ text }) => deps.sluice.restoreStream(text, { scope: deps.scope }),
      edit: (request) => this.#edit(request),
      guard: (message, asked) => {
        const isProgress = asked === undefined && message.includes(PROGRESS);
        if (isProgress && this.#limits?.noteProgress(message) === false) throw DROPPED;
        return this.#guard.guardMessage(message, asked);
      },
      readsForModel: () => this.#host.readsResources === "model",
      passesResults: deps.isOwnServer ?? false,
    });
    this.#guard = new MessageGuard({
      ...deps,
      options: () => ({ dialect: "mcp", namespace: deps.namespace, scope: deps.scope, readTool: this.#readTool }),
      onStored: (found, sizes) => this.#noteStored(found, sizes),
    });
    const toolDeps = {
      ...deps,
      showsImages: (): boolean => this.showsImages,
      maxChars: (): number => this.#host.answerChars,
      nameForModel: (tool: string): string => this.#nameTool(tool),
    };
    this.#requestHandler =
      beside === undefined
        ? new ClientRequestHandler(toolDeps, this.#catalog, (tool, ref) => {
            deps.onEvent({ kind: "stored", tool, artifacts: [ref], bytesIn: 0, bytesOut: 0 });
          })
        : beside.#requestHandler;
  }

  /**
   * Returns an interceptor for one exchange of this client, for transports whose exchanges choose ids independently.
   */
  forExchange(): McpInterceptor {
    return new McpInterceptor(this.#deps, this);
  }

  /**
   * Handles a whole message from the client, of at most MAX_MESSAGE bytes.
   *
   * A call that names artifacts waits for the store. With `later`, its outcome is passed there and the messages behind
   * it go on, so such calls may be overtaken, also by each other; all other messages keep their order. A batch that
   * contains one waits as a whole. A `notifications/cancelled` for a waiting call ends it, and neither reaches the
   * server. One for a request that is answered here ends the work on it, and there is no answer. One for a request that the server
   * never saw, or has answered, does not reach it.
   */
  async fromClient(
    bytes: Uint8Array,
    later?: (held: Promise<ClientMessageOutcome>) => void,
  ): Promise<ClientMessageOutcome> {
    const batch = splitBatch(bytes) ?? [];
    const outcomes = (batch.length === 0 ? [bytes] : batch).map((element) => this.#handle(element));
    const isDeferred = outcomes.some((each) => each instanceof Promise);
    const outcome = combineOutcomes(bytes, batch, outcomes);
    if (!isDeferred || later === undefined) return outcome;
    later(outcome);
    return { answers: [] };
  }

  /** Returns what to send each side about a message from the client that is too large to forward. */
  refuse(message: JsonRpcScanner): Refused {
    this.#deps.onEvent({ kind: "failed", error: tooLargeForServer(message) });
    return refuseMessage(message);
  }

  /** Opens a writer for a message from the server. `reply` sends the server an error in place of an answer. */
  fromServer(
    sink: Pick<MessageSink, "forward" | "complete" | "nonProtocol">,
    reply: (text: string) => void,
  ): MessageWriter {
    const reader = new MessageReader(this.#deps.sluice, {
      policy: this.#policy,
      forward: (bytes) => sink.forward(bytes),
      complete: () => sink.complete(),
      nonProtocol: (bytes) => sink.nonProtocol(bytes),
      passed: (outcome) => this.#noteOutcome(outcome),
      broken: (error, message) => this.#replaceBroken(error, message, reply),
    });
    return this.#limits === undefined ? reader : this.#watchMessage(reader);
  }

  /** Notes when a message begins and ends. */
  #watchMessage(reader: MessageReader): MessageWriter {
    let hasBegun = false;
    const end = (): void => {
      if (hasBegun) this.#receiving -= 1;
      hasBegun = false;
    };
    return {
      write: (bytes) => {
        if (!hasBegun) this.#receiving += 1;
        hasBegun = true;
        return reader.write(bytes);
      },
      end: () => reader.end().finally(end),
      [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose]().finally(end),
    };
  }

  /** The server is gone: returns an answer for every request that waits for it. */
  abandon(sentence: string): readonly string[] {
    return this.#inFlight.abandon(sentence);
  }

  /** Whether the client shows images to its model. */
  get showsImages(): boolean {
    return this.#deps.showImages || this.#host.images;
  }

  /** Writes a reduced result as the client needs it, and remembers what was stored of it. */
  async writeResult(reduced: Transformed): Promise<string> {
    this.#requestHandler.remember(reduced.artifacts);
    return this.#write(reduced);
  }

  /** Sets what is known of the server, if none of its messages told. */
  introduce(server: ServerFacts): void {
    this.#requestHandler.server ??= server;
  }

  /** Forgets a request that will not be answered. `id` is JSON text. */
  forget(id: string): void {
    this.#inFlight.close(id, { error: "_OTHER" });
  }

  /** Whether a request waits for the server's answer. `id` is JSON text. */
  isWaiting(id: string): boolean {
    return this.#inFlight.find(id) !== undefined;
  }

  /** A tool as the server listed it. */
  tool(name: string): ListedTool | undefined {
    return this.#catalog.find(name);
  }

  /** How many requests wait for the server's answer. */
  get waiting(): number {
    return this.#inFlight.waiting;
  }

  #handle(bytes: Uint8Array): ClientMessageOutcome | Promise<ClientMessageOutcome> {
    const request = readRequest(bytes);
    if (request === undefined) {
      const cancelled = readCancelledKey(bytes);
      const isForServer = cancelled === undefined || this.#inFlight.cancel(cancelled);
      return isForServer ? { forward: bytes, answers: [] } : { answers: [] };
    }
    this.#noteClient(request);
    const abort = new AbortController();
    const operation = requestOperation(request, this.#deps.namespace, this.#deps.side);
    const handle = (): RequestOutcome | DeferredRequest =>
      this.#requestHandler.handle(request, this.#showsApps, abort.signal);
    const outcome = operation === undefined ? handle() : operation.run(handle);
    if (outcome.kind === "answer") {
      this.#inFlight.answerHere(request, abort, outcome.answer);
      return this.#answer(request, outcome, operation, abort.signal);
    }
    return outcome.kind === "defer"
      ? this.#defer(bytes, request, outcome, operation)
      : this.#settle(bytes, request, outcome, operation);
  }

  async #defer(
    bytes: Uint8Array,
    request: ClientRequest,
    deferred: DeferredRequest,
    operation: Operation | undefined,
  ): Promise<ClientMessageOutcome> {
    const signal = this.#inFlight.hold(request, operation);
    try {
      const outcome = await deferred.resolve(signal);
      if (signal.aborted) return { answers: [] };
      this.#inFlight.release(request, signal);
      return this.#settle(bytes, request, outcome, operation);
    } catch {
      // It was cancelled, or failed unexpectedly.
      if (signal.aborted) return { answers: [] };
      this.#inFlight.release(request, signal);
      operation?.end(toFailedEnd(String(RpcCode.internal)));
      return { answers: [Promise.resolve(errorMessage(request.id, RpcCode.internal, "The call was not made."))] };
    }
  }

  #settle(
    bytes: Uint8Array,
    request: ClientRequest,
    outcome: RequestOutcome,
    operation: Operation | undefined,
  ): ClientMessageOutcome {
    if (outcome.kind === "answer") return this.#answer(request, outcome, operation);
    const limited = request.method === "tools/call" ? this.#limit(request) : undefined;
    this.#inFlight.open(request, { operation, limited, ...readWishes(request, this.#host) });
    const tool = stringOr(request.params["name"]) ?? "";
    for (const { id, path, form } of outcome.expansions ?? []) {
      this.#deps.onEvent({ kind: "expanded", tool, id, path, form });
    }
    const written = outcome.text === undefined ? bytes : new TextEncoder().encode(outcome.text);
    const forward = withTraceContext(written, operation);
    if (limited === undefined) return { forward, answers: [] };
    const added = `"progressToken":${limited.token}`;
    return {
      forward: limited.isTokenGiven ? forward : withMeta(forward, added, ["progressToken"]),
      answers: [],
      followUps: [limited],
    };
  }

  /** Watches the time of a call. One that is silent for too long is answered in the server's place. */
  #limit(request: ClientRequest): LimitedCall | undefined {
    return this.#limits?.watch(request, () => this.#inFlight.giveUp(request));
  }

  #answer(
    request: ClientRequest,
    { answer, failure }: RequestOutcome & { readonly kind: "answer" },
    operation: Operation | undefined,
    signal?: AbortSignal,
  ): ClientMessageOutcome {
    if (operation !== undefined) void answer.then((said) => operation.end(endOfAnswer(said, request)));
    if (failure !== undefined) this.#deps.onEvent({ kind: "failed", error: failure });
    // MCP, "Cancellation": a client that cancelled a request gets no answer.
    return { answers: [answer.then((said) => (signal?.reason === UNWANTED ? undefined : said))] };
  }

  /** Notes who the client is and what it shows, which is in `initialize`, and since 2026-07-28 in each request. */
  #noteClient(request: ClientRequest): void {
    const { method, params } = request;
    this.#showsApps = showsApps(request) ?? this.#showsApps;
    const info = method === "initialize" ? params["clientInfo"] : objectOr(params["_meta"])[CLIENT_INFO];
    if (info !== undefined) {
      this.#isIntroduced = true;
      this.#host = this.#deps.host ?? recognizeHost(info);
      this.#serverName = this.#deps.serverName ?? readServerName(info);
    }
    this.#model = readModel(request, this.#host) ?? this.#model;
  }

  /** Writes a reduced result as this client needs it. */
  async #write(reduced: Transformed, request?: Request): Promise<string> {
    const { links, store, namespace, scope, onEvent } = this.#deps;
    const { links: fit } = this.#host;
    const isLinked = links === "always" || (links === "auto" && fit === "taken");
    let { text } = reduced;
    if (isLinked) text = withLinks(reduced);
    if (request?.wantsWhole === true) {
      text = markReduced(text, reduced, this.#nameTool(readToolName(namespace)));
    } else {
      if (!isLinked && (fit === "throw" || fit === "dropped")) text = withLinksAsText(reduced);
      const isTyped = this.#catalog.find(request?.tool)?.isTyped === true && this.#deps.schemas !== "drop";
      text = fitToHost(text, this.#host, { isTyped });
    }
    const { meta } = this.#host;
    text = await this.#guard.guardResult(text, meta === "always" || (meta === "errors" && isError(reduced)));
    if (request?.wantsList === true) return text;
    try {
      return await nameRefs(text, store, { namespace, scope });
    } catch (error) {
      // With the list in it, the result says the same in more characters.
      onEvent({ kind: "failed", error: storageError(error, "write") });
      return text;
    }
  }

  #emptyCatalog(): Catalog {
    const { namespace, onEvent } = this.#deps;
    const names = toolDefinitions(namespace).map(({ name }) => name);
    admitTools(namespace, names);
    return new Catalog({
      reserved: names,
      onFull: (error) => onEvent({ kind: "failed", error }),
      onListed: (listed) => admitTools(namespace, listed),
    });
  }

  /** What the client's model calls one of our tools. */
  #nameTool(tool: string): string {
    return nameToolFor(this.#host, this.#catalog.chooseName(tool), this.#serverName);
  }

  /** What a sentence calls our tool. A client that never listed it may have to be told that it exists. */
  get #readTool(): string {
    const name = this.#nameTool(readToolName(this.#deps.namespace));
    return this.#catalog.hasListedOwn ? name : `${name}, a tool of this server that your user may have to allow,`;
  }

  #options(tool: string | undefined): TransformOptions {
    const { namespace, scope } = this.#deps;
    return {
      readTool: this.#readTool,
      dialect: "mcp",
      namespace,
      scope,
      clientShowsImages: this.showsImages,
      ...(this.#inFlight.wantsWhole && { keepOriginal: MAX_WHOLE }),
      client: this.#view(tool),
      ...(tool !== undefined && { tool }),
    };
  }

  /** The longest text that the client shows whole, in characters. An author's limit is raised by hosts that read it, and kept below all. */
  #longestText(tool: string | undefined): number {
    const { wholeText, wholeTextByModel, readsToolLimits } = this.#host;
    const model = Object.keys(wholeTextByModel).find((name) => this.#model.startsWith(name));
    const own = (model === undefined ? undefined : wholeTextByModel[model]) ?? wholeText;
    const limit = this.#catalog.find(tool)?.meta["anthropic/maxResultSizeChars"];
    if (typeof limit !== "number" || !Number.isSafeInteger(limit) || limit < 1) return own;
    return readsToolLimits ? Math.min(limit, MAX_TOOL_LIMIT) : Math.min(limit, own);
  }

  /** What the client makes of a result of a tool. */
  #view(tool: string | undefined): ResultClient {
    const { half, ...media } = this.#host;
    const longest = this.#longestText(tool);
    const images = this.showsImages;
    const isLimited = this.#deps.hasOwnLimit === true;
    return {
      structureNotes:
        half === "structured" ? "previews" : half === "unknown" && this.#isIntroduced ? "sentences" : "none",
      ...(!isLimited && { wholeText: longest }),
      show: showTo({ ...media, images, wholeText: isLimited ? 0 : longest }),
    };
  }

  #edit({ method }: Request): AnswerEdit | undefined {
    const { schemas, namespace } = this.#deps;
    const tools = toolDefinitions(namespace);
    // As it was when the answer began: another request may tell otherwise meanwhile.
    const isShown = this.#showsApps;
    switch (method) {
      case "initialize":
      case "server/discover":
        return (message) => {
          this.#requestHandler.server = readServerFacts(message);
          const sentence = writeInstruction(tools.map(({ name }) => this.#nameTool(name)));
          return withIntroduction(message, sentence, !this.#host.hasResourceTools);
        };
      case "tools/list":
        return async (message) => {
          const shown = isShown ? await withApp(tools, namespace) : tools;
          const widened = { mode: schemas, checksResults: this.#host.checksResults };
          return withTools(message, () => (this.#requestHandler.offersApp ? shown : tools), widened, this.#catalog);
        };
      case "resources/list":
        return (message) => {
          if (message.includes(appUri(namespace))) this.#requestHandler.isAppTaken = true;
          return withResources(message, "resources", this.#requestHandler.resources());
        };
      case "resources/templates/list":
        return (message) => withResources(message, "resourceTemplates", this.#requestHandler.templates());
      default:
        return undefined;
    }
  }

  #noteOutcome({ id, isResponse, reduced, errorCode }: MessageOutcome): void {
    const request = isResponse ? this.#inFlight.close(id, describeEnd(reduced, errorCode)) : undefined;
    if (reduced === undefined) return;
    const tool = request?.tool;
    this.#noteTask(reduced.text, tool);
    this.#requestHandler.remember(reduced.artifacts);
    for (const error of reduced.failures) this.#deps.onEvent({ kind: "failed", error });
    const { artifacts, bytesIn, bytesOut } = reduced;
    if (artifacts.length === 0) return;
    const { host } = this.#host;
    // A program got all of it.
    const isWhole = request?.wantsWhole === true;
    const shown = isWhole ? { before: 0, now: 0 } : measureShown(reduced, this.#host);
    this.#deps.onEvent({
      kind: "stored",
      tool,
      artifacts,
      bytesIn,
      bytesOut: isWhole ? bytesIn : bytesOut,
      host,
      shown,
    });
  }

  /** Notes what was taken out of a message that is no result of a call. */
  #noteStored(
    { artifacts, failures }: StoredParts,
    sizes: { readonly bytesIn: number; readonly bytesOut: number },
  ): void {
    this.#requestHandler.remember(artifacts);
    for (const error of failures) this.#deps.onEvent({ kind: "failed", error });
    if (artifacts.length === 0) return;
    this.#deps.onEvent({ kind: "stored", tool: undefined, artifacts, ...sizes, host: this.#host.host });
  }

  /** Notes a call that was answered with a task: its result comes later, under the task's id. */
  #noteTask(text: string, tool: string | undefined): void {
    if (tool === undefined || !text.includes('"taskId"')) return;
    const result = objectOr(JSON.parse(text));
    const taskId = stringOr(objectOr(result["task"])["taskId"] ?? result["taskId"]);
    if (taskId !== undefined) this.#inFlight.taskOf(taskId, tool);
  }

  #replaceBroken(error: unknown, message: JsonRpcScanner, reply: (text: string) => void): string | undefined {
    const id = message.text("id");
    const isUnasked = !message.isResponse && message.member("method") !== undefined;
    if (isUnasked && error === DROPPED) return undefined;
    const request = isUnasked ? undefined : this.#inFlight.close(id, { error: readErrorCode(error) });
    if (request?.isLate === true) return undefined;
    const { event, toClient, toServer } = describeUndelivered(error, message, request?.method);
    if (event !== undefined) this.#deps.onEvent({ kind: "failed", error: event });
    if (id === undefined) return undefined;
    if (isUnasked) reply(errorMessage(id, RpcCode.internal, toServer));
    if (request === undefined) return undefined;
    return errorMessage(id, RpcCode.internal, toClient, { code: event?.code ?? "E_JSON_SYNTAX" });
  }
}

/** How an answer of the server ends its request's operation. */
function describeEnd(reduced: Transformed | undefined, errorCode: string | undefined): OperationEnd | undefined {
  if (!isObserved()) return undefined;
  if (errorCode !== undefined) return toFailedEnd(errorCode);
  return reduced !== undefined && isError(reduced) ? { error: "tool_error" } : undefined;
}

function isError(reduced: Transformed): boolean {
  return reduced.text.includes('"isError"') && objectOr(reduced.value)["isError"] === true;
}
