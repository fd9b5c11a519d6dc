/**
 * Answers that somebody waits for: how their requests are known, which of these the server has not answered, and what became of the
 * answers behind the gate.
 * @module
 */
import type { GatedResult, TransformOptions } from "../../../core/sluice.js";
import { requestOf, type ClientRequest } from "../../../mcp/client-request.js";
import { idKey, objectOr, stringOr } from "../../../mcp/rpc.js";
import type { Asker } from "./elicitation.js";

/**
 * The kind of request that is answered: a call or its result, a call that asks for a task, the status of a task with its
 * result inside it, a resource.
 */
export type Asked = "call" | "task" | "status" | "read";

/** What came. */
type Arrival =
  /** A result, until somebody takes it. */
  | { readonly kind: "result"; readonly gated: GatedResult; readonly isError: boolean }
  /** A question or a task in a result's place, as it came. */
  | { readonly kind: "aside"; readonly result: Readonly<Record<string, unknown>> };

/** Who waits, beside for the result. */
export interface Waiter {
  /** Who is asked what the server wants to know meanwhile. */
  readonly asker?: Asker;
  /** Told that a part of the answer came. */
  readonly alive?: (() => void) | undefined;
}

/** One answer that is waited for. */
export interface Expectation {
  /** What the request is known by until it has an id. */
  readonly key: string;
  readonly asked: Asked;
  /** How the result is reduced, and whose it is. */
  readonly options: TransformOptions;
  readonly waiter: Waiter;
  /** What came, once it has. */
  arrival?: Arrival | undefined;
  /** Why nothing came, where that is known better than the client knows it. */
  failure?: Error;
}

/** Where in an answer the result stands. */
export function placeOf(asked: Asked): "result" | "result.result" {
  return asked === "status" ? "result.result" : "result";
}

/** What the client is given in a result's place: valid in every revision, and against every output schema. */
export function standIn(asked: Asked, isError: boolean): string {
  if (asked === "read") return '{"contents":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}';
  // It stands inside the status of its task.
  if (asked === "status") return '{"content":[]}';
  return `{"content":[],"structuredContent":{},"isError":${isError},"resultType":"complete"}`;
}

const MARK = "sluice/expectation";

/** What a request's `_meta` carries. */
export function marked(key: string): Record<string, unknown> {
  return { [MARK]: key };
}

/** A request, its mark, and what the server is sent. */
interface Unmarked {
  readonly request: ClientRequest;
  readonly key: string | undefined;
  readonly forward: Uint8Array;
}

/** Reads a message of the client's and takes the mark off; undefined for what is no request. */
export function unmarked(bytes: Uint8Array): Unmarked | undefined {
  const request = requestOf(bytes);
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

/** Requests that are kept account of: who is never answered must not cost memory for ever. */
const MAX_REQUESTS = 10_000;

/**
 * Requests by id. One that was given up stays until it is answered, for its answer may come all the same: it must not be
 * taken for another's.
 */
export class Waiting {
  readonly #requests = new Map<string, Expectation | undefined>();
  /** Which expectations' requests were given up, by id. */
  readonly #givenUp = new Map<string, string>();

  /** Notes a request; without an expectation its answer is the client's own business. */
  open(id: string, expectation: Expectation | undefined): void {
    const key = keyOf(id);
    if (key === undefined) return;
    this.#requests.set(key, expectation);
    if (this.#requests.size <= MAX_REQUESTS) return;
    const [oldest] = this.#requests.keys();
    if (oldest !== undefined) this.#delete(oldest);
  }

  /** Whether a request waits for an answer. */
  has(id: string | undefined): boolean {
    return this.#requests.has(keyOf(id) ?? "");
  }

  find(id: string | undefined): Expectation | undefined {
    return this.#requests.get(keyOf(id) ?? "");
  }

  /** It was answered. */
  close(id: string | undefined): Expectation | undefined {
    const expectation = this.find(id);
    this.#delete(keyOf(id) ?? "");
    return expectation;
  }

  /** Nobody waits for it any more. */
  giveUp(expectation: Expectation): void {
    for (const [key, each] of this.#requests) {
      if (each !== expectation) continue;
      this.#requests.set(key, undefined);
      this.#givenUp.set(key, expectation.key);
    }
  }

  /** Whether a request that was given up is not answered yet. */
  owes(expectation: Pick<Expectation, "key">): boolean {
    return [...this.#givenUp.values()].includes(expectation.key);
  }

  /** Those of these ids that wait; all, where no ids are named. */
  among(ids: readonly string[] | undefined): readonly (Expectation | undefined)[] {
    if (ids === undefined) return [...this.#requests.values()];
    return ids.filter((id) => this.has(id)).map((id) => this.find(id));
  }

  /** The ids of all that wait, as JSON text. */
  get ids(): readonly string[] {
    return [...this.#requests.keys()];
  }

  #delete(key: string): void {
    this.#requests.delete(key);
    this.#givenUp.delete(key);
  }
}

/** The client takes `"1"` for an answer to 1. */
function keyOf(id: string | undefined): string | undefined {
  const key = idKey(id);
  if (key === undefined || !key.startsWith('"')) return key;
  const said = JSON.parse(key) as string;
  const number = Number(said);
  return said.trim() === "" || Number.isNaN(number) ? key : String(number);
}
