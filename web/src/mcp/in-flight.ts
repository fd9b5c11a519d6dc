/**
 * Requests of a client that its server has not answered.
 * @module
 */
import type { ClientRequest } from "./client-request.js";
import { errorMessage, idKey, RpcCode, stringOr } from "./rpc.js";

/** What of a request decides about its answer. */
export interface Request {
  readonly method: string;
  /** The tool that is called, or that a task runs. */
  readonly tool: string | undefined;
  readonly uri: string | undefined;
  /** Whether the client no longer wants the answer. */
  isCancelled?: boolean;
  /** Ends what is done before the server sees it, while it does not. */
  readonly held?: AbortController;
}

/** Requests that are kept account of: who never gets an answer must not cost memory for ever. */
const MAX_REQUESTS = 10_000;

/** Tasks whose tool is remembered. */
const MAX_TASKS = 1000;

/** Requests by id, and the tools that tasks run. */
export class InFlight {
  readonly #requests = new Map<string, Request>();
  readonly #tasks: Map<string, string>;

  /** `beside` knows the same tasks, and other requests. */
  constructor(beside?: InFlight) {
    this.#tasks = beside === undefined ? new Map<string, string>() : beside.#tasks;
  }

  /** Notes a request that the server gets. */
  open(request: ClientRequest): void {
    remember(this.#requests, request.key, this.#facts(request), MAX_REQUESTS);
  }

  /** Notes a request that the server does not get yet; the signal says that nobody waits for it any more. */
  hold(request: ClientRequest): AbortSignal {
    const held = new AbortController();
    remember(this.#requests, request.key, { ...this.#facts(request), held }, MAX_REQUESTS);
    return held.signal;
  }

  /** A request that was held is answered without the server. */
  release({ key }: ClientRequest, signal: AbortSignal): void {
    if (this.#requests.get(key)?.held?.signal === signal) this.#requests.delete(key);
  }

  #facts({ method, params }: ClientRequest): Request {
    const { name, uri, taskId } = params;
    const tool = method.startsWith("tasks/") ? this.#tasks.get(String(taskId)) : stringOr(name);
    return { method, tool, uri: stringOr(uri) };
  }

  /** The request that a response with this id, as JSON text, answers. */
  find(id: string | undefined): Request | undefined {
    return this.#requests.get(this.#keyOf(id) ?? "");
  }

  /** The same, which has now been answered. One that is held does not go on. */
  close(id: string | undefined): Request | undefined {
    const request = this.find(id);
    this.#requests.delete(this.#keyOf(id) ?? "");
    request?.held?.abort();
    return request;
  }

  /** SDKs take `"1"` for an answer to 1. */
  #keyOf(id: string | undefined): string | undefined {
    const key = idKey(id);
    if (key === undefined || this.#requests.has(key) || !key.startsWith('"')) return key;
    const said = JSON.parse(key) as string;
    return said.trim() === "" ? key : String(Number(said));
  }

  /** All that wait for an answer. */
  requests(): Iterable<Request> {
    return this.#requests.values();
  }

  /** How many of them the client still wants. */
  get waiting(): number {
    return this.#waiting().length;
  }

  /** The server is gone: what everybody who waits is answered. */
  abandon(sentence: string): readonly string[] {
    const ids = this.#waiting();
    for (const id of ids) this.close(id);
    return ids.map((id) => errorMessage(id, RpcCode.serverError, sentence));
  }

  #waiting(): readonly string[] {
    return [...this.#requests].flatMap(([id, { isCancelled }]) => (isCancelled === true ? [] : [id]));
  }

  /** The client no longer wants an answer, which may come all the same. Whether the server knows of the request. */
  cancel(key: string): boolean {
    const request = this.#requests.get(key);
    if (request?.held !== undefined) {
      this.close(key);
      return false;
    }
    if (request !== undefined) request.isCancelled = true;
    return true;
  }

  /** Notes that a task runs a tool. */
  taskOf(taskId: string, tool: string): void {
    remember(this.#tasks, taskId, tool, MAX_TASKS);
  }
}

function remember<T>(map: Map<string, T>, key: string, value: T, limit: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= limit) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
