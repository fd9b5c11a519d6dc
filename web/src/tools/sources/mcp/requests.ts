/**
 * Requests to an MCP server, their pending results, and their errors.
 * @module
 */
import type { Client } from "@modelcontextprotocol/client";
import type { GatedResult, TransformOptions } from "../../../core/types.js";
import { type ClientRequest, readRequest } from "../../../mcp/client-request.js";
import { idKey, objectOr, stringOr } from "../../../jsonrpc/rpc.js";
import { adaptError } from "../../adapt-error.js";
import {
  toSubject,
  ToolAuthError,
  ToolConnectionError,
  ToolNodeError,
  type ToolPlace,
  wasClosed,
} from "../../errors.js";
import type { Asker } from "./asker.js";

/** The longest timer, in milliseconds. Time limits are the caller's. */
export const NO_LIMIT: number = 0x7fff_ffff;

/** Milliseconds that a server may take to end its session, or to confirm a subscription. */
export const GRACE: number = 2000;

/** A request. */
interface PendingRequest<T> {
  /** Sends it. */
  readonly ask: () => Promise<T>;
  /** Cancels it. */
  readonly signal: AbortSignal;
  readonly tool?: string;
  /** Its pending result at the interceptor. */
  readonly pendingResult?: PendingResult;
  /** Whether it continues something that an earlier request started, which therefore was sent. */
  readonly goesOn?: boolean;
}

/** What requests are sent with. */
export interface RequestDeps {
  /** The source's name. */
  readonly name: string;
  /** Releases a result that no call waits for. */
  readonly interceptor: { release(pendingResult: PendingResult): void };
  readonly client: Client;
  /** Whether the owner has closed the connection. */
  readonly isClosed: () => boolean;
  /** Values that errors must not contain. */
  readonly secrets: () => readonly string[];
}

/**
 * Sends a request.
 *
 * @throws ToolNodeError, or the signal's reason.
 */
export async function sendRequest<T>(
  { ask, signal, tool, pendingResult, goesOn = false }: PendingRequest<T>,
  { name, interceptor, client, isClosed, secrets }: RequestDeps,
): Promise<T> {
  try {
    signal.throwIfAborted();
    if (client.transport === undefined) throw goesOn && isClosed() ? wasClosed(name) : connectionLost(name, !goesOn);
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    // The client reports this as closed by the server.
    if (isClosed() && !(error instanceof ToolNodeError)) throw wasClosed(name);
    const place: ToolPlace = { source: name, ...(tool !== undefined && { tool }) };
    const adapted = adaptError(pendingResult?.failure ?? error, place, { secrets: secrets() });
    throw goesOn ? withoutRetry(adapted) : adapted;
  } finally {
    if (pendingResult !== undefined) interceptor.release(pendingResult);
  }
}

/**
 * Removes from an error what would make the whole call be repeated (its status, or that it was not sent), since an
 * earlier request already had its effect.
 */
function withoutRetry(error: ToolNodeError): ToolNodeError {
  const { message, status, neverSent, category } = error;
  if (status === undefined && neverSent !== true && category !== "retryable_rate") return error;
  const Class = error instanceof ToolAuthError ? ToolAuthError : ToolNodeError;
  return new Class(message, {
    cause: error,
    code: error.code,
    category: category === "retryable_rate" ? "retryable_server" : category,
  });
}

/** The error for a connection that the server has closed. */
export function connectionLost(source: string, neverSent = false): ToolConnectionError {
  const subject = toSubject({ source });
  const sentence = neverSent
    ? `${subject} has ended the connection: connect again.`
    : `${subject} ended the connection before it answered: see the server's own log.`;
  return new ToolConnectionError(sentence, neverSent ? { neverSent } : {});
}

/** Waits for the work, but not longer than so many milliseconds. Ignores its errors. */
export async function settleWithin(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work.catch(() => undefined), over]);
  clearTimeout(timer);
}

/**
 * The kind of request: a call or the result of a task, a call as a task, the status of a modern task with its result,
 * a resource.
 */
export type RequestKind = "call" | "task" | "status" | "read";

/** What arrived. */
type Arrival =
  /** A result, until it is taken. */
  | { readonly kind: "result"; readonly gated: GatedResult; readonly isError: boolean }
  /** A question or a task instead of a result. */
  | { readonly kind: "aside"; readonly result: Readonly<Record<string, unknown>> };

/** The caller behind a request. */
export interface Waiter {
  /** Answers the server's questions. */
  readonly asker?: Asker;
  /** Called when a part of the answer arrives. */
  readonly alive?: (() => void) | undefined;
}

/** A result that is pending. */
export interface PendingResult {
  /** Identifies the request until it has an id. */
  readonly key: string;
  readonly asked: RequestKind;
  /** How the result is reduced, and its owner. */
  readonly options: TransformOptions;
  readonly waiter: Waiter;
  /** What arrived, if anything. */
  arrival?: Arrival | undefined;
  /** Why nothing arrived, if that is known better than the client's error says. */
  failure?: Error;
}

/** The place of the result in an answer. */
export function getResultPlace(asked: RequestKind): "result" | "result.result" {
  return asked === "status" ? "result.result" : "result";
}

/** What the client gets in place of a result. Valid in every revision and for every output schema. */
export function standIn(asked: RequestKind, isError: boolean): string {
  if (asked === "read") return '{"contents":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}';
  // Part of the status of a task.
  if (asked === "status") return '{"content":[]}';
  return `{"content":[],"structuredContent":{},"isError":${isError},"resultType":"complete"}`;
}

const MARK = "sluice/expectation";

/** Marks a request in its `_meta`. */
export function requestMark(key: string): Record<string, unknown> {
  return { [MARK]: key };
}

/** A request, its mark, and the message for the server. */
interface Unmarked {
  readonly request: ClientRequest;
  readonly key: string | undefined;
  readonly forward: Uint8Array;
}

/** Reads a request of the client and removes the mark. Undefined for other messages. */
export function removeMark(bytes: Uint8Array): Unmarked | undefined {
  const request = readRequest(bytes);
  if (request === undefined) return undefined;
  const { [MARK]: mark, ...meta } = objectOr(request.params["_meta"]);
  const key = stringOr(mark);
  if (key === undefined) return { request, key, forward: bytes };
  const { _meta: _, ...params } = request.params;
  const message = {
    jsonrpc: "2.0",
    id: JSON.parse(request.id) as unknown,
    method: request.method,
    params: Object.keys(meta).length === 0 ? params : { ...params, _meta: meta },
  };
  return { request, key, forward: new TextEncoder().encode(JSON.stringify(message)) };
}

/** Maximum number of tracked requests, since some may never be answered. */
const MAX_REQUESTS = 10_000;

/**
 * Requests by id. Cancelled requests are kept until they are answered, since a late answer must not be taken for
 * another's.
 */
export class PendingRequests {
  readonly #requests = new Map<string, PendingResult | undefined>();

  /** Adds a request. Without a pending result, its answer is left to the client. */
  open(id: string, pendingResult: PendingResult | undefined): void {
    const key = toKey(id);
    if (key === undefined) return;
    this.#requests.set(key, pendingResult);
    if (this.#requests.size <= MAX_REQUESTS) return;
    const [oldest] = this.#requests.keys();
    if (oldest !== undefined) this.#requests.delete(oldest);
  }

  /** Whether a request is unanswered. */
  has(id: string | undefined): boolean {
    return this.#requests.has(toKey(id) ?? "");
  }

  find(id: string | undefined): PendingResult | undefined {
    return this.#requests.get(toKey(id) ?? "");
  }

  /** Removes an answered request. */
  close(id: string | undefined): PendingResult | undefined {
    const pendingResult = this.find(id);
    this.#requests.delete(toKey(id) ?? "");
    return pendingResult;
  }

  /** Cancels a pending result. */
  giveUp(pendingResult: PendingResult): void {
    for (const [key, each] of this.#requests) {
      if (each === pendingResult) this.#requests.set(key, undefined);
    }
  }

  /** The unanswered requests among these ids, or all. */
  among(ids: readonly string[] | undefined): readonly (PendingResult | undefined)[] {
    if (ids === undefined) return [...this.#requests.values()];
    return ids.filter((id) => this.has(id)).map((id) => this.find(id));
  }

  /** The ids of unanswered requests, as JSON text. */
  get ids(): readonly string[] {
    return [...this.#requests.keys()];
  }
}

/** The client takes `"1"` for the id 1. */
function toKey(id: string | undefined): string | undefined {
  const key = idKey(id);
  if (key === undefined || !key.startsWith('"')) return key;
  const said = JSON.parse(key) as string;
  const number = Number(said);
  return said.trim() === "" || Number.isNaN(number) ? key : String(number);
}
