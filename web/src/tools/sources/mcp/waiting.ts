/**
 * Requests that the server has not answered, and which of them somebody waits for behind the gate.
 * @module
 */
import { idKey } from "../../../mcp/rpc.js";
import type { Expectation } from "./expectation.js";

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
