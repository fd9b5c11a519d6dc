/**
 * Requests that the server has not answered.
 * @module
 */
import type { LimitedCall } from "./call-limit.js";
import type { ClientRequest } from "./client-request.js";
import type { Operation, OperationEnd } from "../telemetry/operation.js";
import { errorMessage, idKey, RpcCode, stringOr } from "../jsonrpc/rpc.js";

/** How a client asks for a result, in the `_meta` of its call. */
export interface ResultWishes {
  /** The list of references in the result, not its name: `"sluice/refs": "list"`. */
  readonly wantsList: boolean;
  /** The whole result, for a program that reads it: `"sluice/whole": true`. */
  readonly wantsWhole: boolean;
}

const NO_WISHES: ResultWishes = { wantsList: false, wantsWhole: false };

/** The parts of a request that decide how its answer is treated. */
export interface Request extends ResultWishes {
  readonly method: string;
  /** The tool that is called, or that a task runs. */
  readonly tool: string | undefined;
  readonly uri: string | undefined;
  /** Whether the client has cancelled it. */
  isCancelled?: boolean;
  /** Whether it was answered in the server's place, which was silent for too long. What the server still answers is dropped. */
  isLate?: boolean;
  /** What watches the silence of the server. */
  readonly limited?: LimitedCall | undefined;
  /** Cancels the work on it while the server has not seen it. */
  readonly abort?: AbortController;
  /** What telemetry sees of it. */
  readonly operation?: Operation | undefined;
}

/** Most requests that are tracked: one that is never answered must not use memory for ever. */
const MAX_REQUESTS = 10_000;

/** Most tasks that are tracked. */
const MAX_TASKS = 1000;

/** Why work on an answer ends that the client no longer wants. */
export const UNWANTED: DOMException = new DOMException("The client cancelled the request.", "AbortError");

/** Tracks requests by id, and the tools that tasks run. */
export class InFlight {
  readonly #requests = new Map<string, Request>();
  /** Requests that are answered here, without the server. */
  readonly #own = new Map<string, AbortController>();
  readonly #tasks: Map<string, string>;
  /** All that are beside each other and have requests. */
  readonly #family: Set<InFlight>;

  /** `beside` shares its tasks and has its own requests. */
  constructor(beside?: InFlight) {
    this.#tasks = beside === undefined ? new Map<string, string>() : beside.#tasks;
    this.#family = beside === undefined ? new Set<InFlight>() : beside.#family;
  }

  /** Adds a request that is sent to the server. */
  open(request: ClientRequest, more: Pick<Request, "operation" | "limited"> & Partial<ResultWishes> = {}): void {
    this.#remember(request.key, { ...this.#facts(request), ...more });
  }

  /** A request was answered in the server's place. */
  giveUp({ key }: ClientRequest): void {
    const request = this.#requests.get(key);
    if (request === undefined) return;
    request.isCancelled = true;
    request.isLate = true;
    request.operation?.end(SILENT);
  }

  /** Adds a request that is not sent to the server yet. The signal aborts when its answer is no longer wanted. */
  hold(request: ClientRequest, operation?: Operation): AbortSignal {
    const abort = new AbortController();
    this.#remember(request.key, { ...this.#facts(request), abort, operation });
    return abort.signal;
  }

  #remember(key: string, request: Request): void {
    this.#family.add(this);
    const before = this.#requests.get(key);
    // Two requests of one id: only the last one's answer is told apart.
    if (before?.operation !== request.operation) before?.operation?.end(LOST);
    before?.limited?.end();
    const forgotten = remember(this.#requests, key, request, MAX_REQUESTS);
    forgotten?.operation?.end(LOST);
    forgotten?.limited?.end();
  }

  /** Removes a request that was held and is answered without the server. */
  release({ key }: ClientRequest, signal: AbortSignal): void {
    if (this.#requests.get(key)?.abort?.signal === signal) this.#requests.delete(key);
    this.#leave();
  }

  /** An exchange is over when nothing of it waits. */
  #leave(): void {
    if (this.#requests.size === 0 && this.#own.size === 0) this.#family.delete(this);
  }

  /** Adds a request that is answered here, until its answer is there. Cancelling it aborts `abort`. */
  answerHere({ key }: ClientRequest, abort: AbortController, answer: Promise<unknown>): void {
    const forget = (): void => {
      if (this.#own.get(key) === abort) this.#own.delete(key);
      this.#leave();
    };
    this.#family.add(this);
    this.#own.set(key, abort);
    answer.then(forget, forget);
  }

  #facts({ method, params }: ClientRequest): Request {
    const { name, uri, taskId } = params;
    const tool = method.startsWith("tasks/") ? this.#tasks.get(String(taskId)) : stringOr(name);
    return { method, tool, uri: stringOr(uri), ...NO_WISHES };
  }

  /** The request that a response answers. `id` is JSON text. */
  find(id: string | undefined): Request | undefined {
    return this.#requests.get(this.#toKey(id) ?? "");
  }

  /** Removes a request that was answered, or that ended otherwise. A held one is aborted. */
  close(id: string | undefined, end?: OperationEnd): Request | undefined {
    const request = this.find(id);
    this.#requests.delete(this.#toKey(id) ?? "");
    this.#leave();
    request?.abort?.abort();
    request?.operation?.end(end);
    request?.limited?.end();
    return request;
  }

  /** SDKs accept `"1"` as an answer to 1. */
  #toKey(id: string | undefined): string | undefined {
    const key = idKey(id);
    if (key === undefined || this.#requests.has(key) || !key.startsWith('"')) return key;
    const said = JSON.parse(key) as string;
    return said.trim() === "" ? key : String(Number(said));
  }

  /** Whether one of them wants the whole result. */
  get wantsWhole(): boolean {
    for (const { wantsWhole } of this.#requests.values()) if (wantsWhole) return true;
    return false;
  }

  /** All requests that wait for an answer. */
  requests(): Iterable<Request> {
    return this.#requests.values();
  }

  /** How many of them were not cancelled. */
  get waiting(): number {
    return this.#waiting().length;
  }

  /** The server is gone: returns an error for every waiting request, and ends those that are answered here. */
  abandon(sentence: string): readonly string[] {
    for (const abort of this.#own.values()) abort.abort();
    const ids = this.#waiting();
    for (const id of ids) this.close(id, GONE);
    return ids.map((id) => errorMessage(id, RpcCode.serverError, sentence));
  }

  #waiting(): readonly string[] {
    return [...this.#requests].flatMap(([id, { isCancelled }]) => (isCancelled === true ? [] : [id]));
  }

  /**
   * Cancels a request, which may be answered all the same. Returns whether the server is to be told: not of a request that it never saw,
   * or has answered. A request of another exchange is cancelled where no other has the same id.
   */
  cancel(key: string): boolean {
    const [only = this, ...others] = [...this.#family].filter((each) => each.#has(key));
    return others.length === 0 || this.#has(key) ? (this.#has(key) ? this : only).#cancel(key) : true;
  }

  #has(key: string): boolean {
    return this.#requests.has(key) || this.#own.has(key);
  }

  #cancel(key: string): boolean {
    const own = this.#own.get(key);
    if (own !== undefined) {
      own.abort(UNWANTED);
      return false;
    }
    const request = this.#requests.get(key);
    if (request === undefined) return false;
    if (request.abort !== undefined) {
      this.close(key, CANCELLED);
      return false;
    }
    request.isCancelled = true;
    request.operation?.end(CANCELLED);
    request.limited?.end();
    return true;
  }

  /** Adds a task and the tool that it runs. */
  taskOf(taskId: string, tool: string): void {
    remember(this.#tasks, taskId, tool, MAX_TASKS);
  }
}

const GONE: OperationEnd = { error: "E_TOOL_CONNECTION" };
const CANCELLED: OperationEnd = { error: "E_CANCELLED" };
const SILENT: OperationEnd = { error: "E_TOOL_TIMEOUT" };
/** How it ended stays unknown. */
const LOST: OperationEnd = { error: "_OTHER" };

/** Adds an entry. Returns the one that had to go for it. */
function remember<T>(map: Map<string, T>, key: string, value: T, limit: number): T | undefined {
  map.delete(key);
  map.set(key, value);
  if (map.size <= limit) return undefined;
  const [oldest] = map;
  if (oldest === undefined) return undefined;
  map.delete(oldest[0]);
  return oldest[1];
}
