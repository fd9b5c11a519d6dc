/**
 * What stands between one client and one server: reads what each sends, and decides what the other gets (design §6).
 * @module
 */
import type { AnswerRef, Sluice, Transformed, TransformOptions } from "../core/sluice.js";
import { Incoming, type Outlet } from "../transports/incoming.js";
import type { MessageMembers } from "../transports/members.js";
import type { Passed } from "../transports/passage.js";
import {
  Catalog,
  factsOf,
  instructionOf,
  withIntroduction,
  withResources,
  withTool,
  type ListedTool,
  type ServerFacts,
} from "./catalog.js";
import { Courses, type AnswerEdit } from "./courses.js";
import { batchOf, cancelledBy, elementsOf, requestOf, type ClientRequest } from "./client-request.js";
import type { DoorEvent } from "./door-event.js";
import { Desk, type DeskTerms, type Held, type Taken } from "./desk.js";
import { InFlight, type Request } from "./in-flight.js";
import { errorMessage, objectOr, RpcCode, stringOr } from "./rpc.js";
import { withLinks, withLinksTold } from "./links.js";
import { readTool } from "./reading/reading.js";
import type { SchemaMode } from "./schemas.js";
import { refuseMessage, tooLargeForServer, undelivered, type Refused } from "./too-large.js";

export type { DoorEvent, ExpandedEvent, FailedEvent, StoredEvent } from "./door-event.js";

/** Whether `resource_link` blocks are added to results: for clients known to take them, for all, for none. */
export type LinkMode = "auto" | "always" | "never";

/** What a door is made of. */
export interface DoorTerms extends DeskTerms {
  readonly sluice: Sluice;
  readonly links: LinkMode;
  /** Whether the client is known to show images to its model. */
  readonly showImages: boolean;
  readonly schemas: SchemaMode;
  readonly onEvent: (event: DoorEvent) => void;
}

/** What becomes of a message of the client's. */
export interface FromClient {
  /** What the server is sent. */
  readonly forward?: Uint8Array;
  /** What the client is answered at once, a message each; those of our own tool take a while. */
  readonly answers: readonly Promise<string>[];
}

const CLIENT_INFO = "io.modelcontextprotocol/clientInfo";

/** Clients that are known to do the right thing with a link to an artifact. */
const KNOWN_FOR_LINKS: ReadonlySet<string> = new Set(["mcp-inspector"]);

/** Clients whose calls throw when a result has a link, whoever put it there. */
const FAILS_AT_LINKS: ReadonlySet<string> = new Set(["@langchain/mcp-adapters"]);

/** One client and one server. */
export class Door {
  readonly #terms: DoorTerms;
  readonly #inFlight: InFlight;
  readonly #catalog: Catalog;
  readonly #courses: Courses;
  readonly #desk: Desk;
  #client: string | undefined;

  /** `beside` is another door of the same client's: they know the same of the server, and may see the same ids. */
  constructor(terms: DoorTerms, beside?: Door) {
    this.#terms = terms;
    this.#inFlight = new InFlight(beside === undefined ? undefined : beside.#inFlight);
    this.#catalog = beside === undefined ? this.#emptyCatalog() : beside.#catalog;
    this.#courses = new Courses({
      inFlight: this.#inFlight,
      catalog: this.#catalog,
      options: (tool) => this.#options(tool),
      links: () => this.#linking(),
      restored: ({ text }) => terms.sluice.restoreStream(text, { scope: terms.scope }),
      edit: (request) => this.#edit(request),
    });
    this.#desk = beside === undefined ? new Desk(terms, this.#catalog) : beside.#desk;
  }

  /** A door for one exchange of this client's, where exchanges choose their ids without knowing of each other. */
  forExchange(): Door {
    return new Door(this.#terms, this);
  }

  /**
   * Takes a whole message of the client's, of at most MAX_MESSAGE bytes. A call that names artifacts has to wait for the
   * store: with `later`, that is given what becomes of it, and the messages behind it need not wait. So such calls may
   * be overtaken, by each other as well; all other messages keep their order. A batch with one in it waits as a whole.
   * `notifications/cancelled` for one that waits ends it, and the server is told of neither.
   */
  async fromClient(bytes: Uint8Array, later?: (held: Promise<FromClient>) => void): Promise<FromClient> {
    const batch = elementsOf(bytes) ?? [];
    const taken = (batch.length === 0 ? [bytes] : batch).map((element) => this.#take(element));
    const isHeld = taken.some((each) => each instanceof Promise);
    const held = allTaken(bytes, batch, taken);
    if (!isHeld || later === undefined) return held;
    later(held);
    return { answers: [] };
  }

  /** A message of the client's that is larger than that is not sent on: what each side is told. */
  refuse(message: MessageMembers): Refused {
    this.#terms.onEvent({ kind: "failed", error: tooLargeForServer(message) });
    return refuseMessage(message);
  }

  /** Takes a message of the server's, piece by piece. `reply` sends the server what it gets instead of an answer. */
  fromServer(outlet: Pick<Outlet, "forward" | "complete" | "stray">, reply: (text: string) => void): Incoming {
    return new Incoming(this.#terms.sluice, {
      judge: this.#courses,
      forward: (bytes) => outlet.forward(bytes),
      complete: () => outlet.complete(),
      stray: (bytes) => outlet.stray(bytes),
      passed: (passed) => this.#passed(passed),
      broken: (error, message) => this.#broken(error, message, reply),
    });
  }

  /** The server is gone: what everybody who waits for it is answered. */
  abandon(sentence: string): readonly string[] {
    return this.#inFlight.abandon(sentence);
  }

  /** What is known of the server, where no message of its told. */
  introduce(server: ServerFacts): void {
    this.#desk.server ??= server;
  }

  /** A request will not be answered: `id` is JSON text. */
  forget(id: string): void {
    this.#inFlight.close(id);
  }

  /** Whether a request waits for the server's answer: `id` is JSON text. */
  isWaiting(id: string): boolean {
    return this.#inFlight.find(id) !== undefined;
  }

  /** What the server's lists told of a tool. */
  tool(name: string): ListedTool | undefined {
    return this.#catalog.find(name);
  }

  /** How many requests wait for the server's answer. */
  get waiting(): number {
    return this.#inFlight.waiting;
  }

  #take(bytes: Uint8Array): FromClient | Promise<FromClient> {
    const request = requestOf(bytes);
    if (request === undefined) {
      const cancelled = cancelledBy(bytes);
      const isForServer = cancelled === undefined || this.#inFlight.cancel(cancelled);
      return isForServer ? { forward: bytes, answers: [] } : { answers: [] };
    }
    this.#noteClient(request);
    const taken = this.#desk.take(request);
    return taken.kind === "hold" ? this.#hold(bytes, request, taken) : this.#sent(bytes, request, taken);
  }

  async #hold(bytes: Uint8Array, request: ClientRequest, held: Held): Promise<FromClient> {
    const signal = this.#inFlight.hold(request);
    try {
      const taken = await held.take(signal);
      if (signal.aborted) return { answers: [] };
      this.#inFlight.release(request, signal);
      return this.#sent(bytes, request, taken);
    } catch {
      // Nobody waits for it any more, or it failed as nothing should.
      if (signal.aborted) return { answers: [] };
      this.#inFlight.release(request, signal);
      return { answers: [Promise.resolve(errorMessage(request.id, RpcCode.internal, "The call was not made."))] };
    }
  }

  #sent(bytes: Uint8Array, request: ClientRequest, taken: Taken): FromClient {
    if (taken.kind === "answer") {
      if (taken.failure !== undefined) this.#terms.onEvent({ kind: "failed", error: taken.failure });
      return { answers: [taken.answer] };
    }
    this.#inFlight.open(request);
    const tool = stringOr(request.params["name"]) ?? "";
    for (const { id, path, form } of taken.expansions ?? []) {
      this.#terms.onEvent({ kind: "expanded", tool, id, path, form });
    }
    return { forward: taken.text === undefined ? bytes : new TextEncoder().encode(taken.text), answers: [] };
  }

  /** Who the client is stands in `initialize`, since 2026-07-28 in each request. */
  #noteClient({ method, params }: ClientRequest): void {
    const info = method === "initialize" ? params["clientInfo"] : objectOr(params["_meta"])[CLIENT_INFO];
    this.#client = stringOr(objectOr(info)["name"]) ?? this.#client;
  }

  /** What becomes of links in results for this client. */
  #linking(): ((reduced: Transformed) => string) | undefined {
    const { links } = this.#terms;
    const client = this.#client ?? "";
    if (links === "always" || (links === "auto" && KNOWN_FOR_LINKS.has(client))) return withLinks;
    return FAILS_AT_LINKS.has(client) ? withLinksTold : undefined;
  }

  #emptyCatalog(): Catalog {
    const { namespace, onEvent } = this.#terms;
    return new Catalog(readTool(namespace).name, (error) => onEvent({ kind: "failed", error }));
  }

  #options(tool: string | undefined): TransformOptions {
    const { namespace, scope, showImages } = this.#terms;
    return {
      dialect: "mcp",
      namespace,
      scope,
      clientShowsImages: showImages,
      ...(tool !== undefined && { tool }),
    };
  }

  #edit({ method }: Request): AnswerEdit | undefined {
    const { schemas } = this.#terms;
    const tool = this.#desk.tool;
    switch (method) {
      case "initialize":
      case "server/discover":
        return (message) => {
          this.#desk.server = factsOf(message);
          return withIntroduction(message, instructionOf(tool.name));
        };
      case "tools/list":
        return (message) => withTool(message, tool, schemas, this.#catalog);
      case "resources/list":
        return (message) => withResources(message, "resources", this.#desk.resources());
      case "resources/templates/list":
        return (message) => withResources(message, "resourceTemplates", this.#desk.templates());
      default:
        return undefined;
    }
  }

  #passed({ id, isResponse, reduced }: Passed): void {
    const request = isResponse ? this.#inFlight.close(id) : undefined;
    if (reduced === undefined) return;
    const tool = request?.tool;
    this.#noteTask(reduced.text, tool);
    this.#desk.mint(reduced.artifacts);
    for (const error of reduced.failures) this.#terms.onEvent({ kind: "failed", error });
    if (reduced.artifacts.length > 0)
      this.#terms.onEvent({ kind: "stored", tool, artifacts: eachOnce(reduced.artifacts) });
  }

  /** A call that was answered with a task: its result comes later, under the task's id. */
  #noteTask(text: string, tool: string | undefined): void {
    if (tool === undefined || !text.includes('"taskId"')) return;
    const result = objectOr(JSON.parse(text));
    const taskId = stringOr(objectOr(result["task"])["taskId"] ?? result["taskId"]);
    if (taskId !== undefined) this.#inFlight.taskOf(taskId, tool);
  }

  #broken(error: unknown, message: MessageMembers, reply: (text: string) => void): string | undefined {
    const id = message.text("id");
    const isUnasked = !message.isResponse && message.member("method") !== undefined;
    const request = isUnasked ? undefined : this.#inFlight.close(id);
    const { event, toClient, toServer } = undelivered(error, message, request?.method);
    if (event !== undefined) this.#terms.onEvent({ kind: "failed", error: event });
    if (id === undefined) return undefined;
    if (isUnasked) reply(errorMessage(id, RpcCode.internal, toServer));
    if (request === undefined) return undefined;
    return errorMessage(id, RpcCode.internal, toClient, { code: event?.code ?? "E_JSON_SYNTAX" });
  }
}

/** What becomes of a message, by what becomes of its elements where it is a batch. */
async function allTaken(
  bytes: Uint8Array,
  batch: readonly Uint8Array[],
  each: readonly (FromClient | Promise<FromClient>)[],
): Promise<FromClient> {
  const taken: FromClient[] = [];
  for (const one of each) taken.push(await one);
  if (batch.length === 0) return taken[0] as FromClient;
  const forwarded = taken.flatMap(({ forward }) => (forward === undefined ? [] : [forward]));
  const answers = taken.flatMap((one) => one.answers);
  if (forwarded.length === 0) return { answers };
  const isUnchanged = forwarded.length === batch.length && forwarded.every((one, index) => one === batch[index]);
  return { forward: isUnchanged ? bytes : batchOf(forwarded), answers };
}

/** The same content may stand in both halves of a result. */
function eachOnce(refs: readonly AnswerRef[]): readonly AnswerRef[] {
  return [...new Map(refs.map((ref) => [ref.id, ref])).values()];
}
