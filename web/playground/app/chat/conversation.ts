/**
 * The conversation: what was asked and answered in this visit, and who answers.
 * @module
 */
import { proxy, type Remote } from "comlink";
import { callKey } from "../../engine/chat/call-key.js";
import type { ChatEvent, ChatModel, Endpoint } from "../../engine/chat/contract.js";
import type { Engine, Outcome } from "../../engine/contract.js";
import type { Actions } from "../actions.js";
import { withNotice } from "../changes.js";
import { follow } from "../display.js";
import { remember, remembered } from "../memory.js";
import type { Store } from "../state.js";
import { problemOf } from "./endpoint.js";
import { withCancelled, withEvent, type ChatTurn } from "./turn.js";

/** Questions that are shown; those before are forgotten. */
const MAX_TURNS = 50;
/** Answers that the model is told of again. */
const MAX_BEFORE = 10;

/** What is asked and answered, for as long as the page is open. */
export class Conversation extends EventTarget {
  readonly #actions: Actions;
  readonly #engine: Pick<Remote<Engine>, "chat" | "stop">;
  readonly #store: Store;
  #turns: readonly ChatTurn[] = [];
  /** What the person chose; undefined: whoever is there. */
  #model: ChatModel | undefined;
  #isRemembered: boolean;

  constructor(actions: Actions, store: Store) {
    super();
    this.#actions = actions;
    this.#engine = actions.engine;
    this.#store = store;
    const known = endpointIn(remembered<unknown>("model"));
    this.#model = known && { kind: "endpoint", ...known };
    this.#isRemembered = known !== undefined;
  }

  /** The oldest first. */
  get turns(): readonly ChatTurn[] {
    return this.#turns;
  }

  /** Who answers: the server that the page comes from where it has a model, and else the script, unless somebody else was chosen. */
  get model(): ChatModel {
    return this.#model ?? { kind: this.#store.state.serve?.chat === true ? "served" : "scripted" };
  }

  /** Whether the endpoint is known in the next visit too. */
  get isRemembered(): boolean {
    return this.#isRemembered;
  }

  /** The turn that goes on. */
  get current(): ChatTurn | undefined {
    return this.#turns.findLast(({ state }) => state === "running");
  }

  /** Who answers from now on; an endpoint is kept beyond this visit only where that is wanted. */
  choose(model: ChatModel, isRemembered: boolean): void {
    this.#model = model;
    this.#isRemembered = isRemembered && model.kind === "endpoint";
    const { kind: _, ...endpoint } = model;
    remember("model", this.#isRemembered ? endpoint : undefined);
    this.#changed();
  }

  /** Asks a question, unless one goes on; each of its calls may be silent for `timeout` seconds. */
  async ask(query: string, timeout?: number): Promise<void> {
    if (this.current !== undefined || query.trim() === "") return;
    const request = {
      id: crypto.randomUUID(),
      query: query.trim(),
      before: this.#before(),
      model: this.model,
      ...(timeout !== undefined && { timeout }),
    };
    const { before: _, ...asked } = request;
    this.#set([...this.#turns, { ...asked, state: "running", steps: [] }]);
    const tell = (event: ChatEvent): void => {
      if (event.kind === "display") follow(event.display, this.#actions);
      else this.#change(request.id, (turn) => withEvent(turn, event, Date.now()));
    };
    const outcome = await this.#engine.chat(request, proxy(tell)).catch(failed);
    this.#change(request.id, (turn) => {
      if (outcome.ok) return { ...turn, state: "done", end: outcome.value };
      const isCancelled = outcome.problem.code === "E_CANCELLED";
      return { ...turn, state: isCancelled ? "cancelled" : "failed", problem: outcome.problem };
    });
    this.#tellOf(outcome.ok);
  }

  /** Gives up the turn that goes on. */
  stop(): void {
    const { current } = this;
    if (current !== undefined) this.#engine.stop(current.id).catch(() => undefined);
  }

  /** Gives up one of its calls: the model goes on without the result. */
  cancel(step: number, call: string): void {
    const { current } = this;
    if (current === undefined) return;
    this.#change(current.id, (turn) => withCancelled(turn, step, call));
    this.#engine.stop(current.id, callKey(step, call)).catch(() => undefined);
  }

  /** Begins anew: nothing of it is told to the model again. */
  clear(): void {
    if (this.current === undefined) this.#set([]);
  }

  #before(): { readonly query: string; readonly answer: string }[] {
    return this.#turns
      .flatMap(({ query, end }) => (end === undefined ? [] : [{ query, answer: end.answer }]))
      .slice(-MAX_BEFORE);
  }

  /** Somebody who looks elsewhere is told. */
  #tellOf(isDone: boolean): void {
    const { state } = this.#store;
    if (state.view === "chat") return;
    const text = isDone ? "The chat has an answer." : "The chat's question came to nothing.";
    this.#store.set(withNotice(state, { level: isDone ? "info" : "bad", text }));
  }

  #change(id: string, change: (turn: ChatTurn) => ChatTurn): void {
    this.#set(this.#turns.map((turn) => (turn.id === id ? change(turn) : turn)));
  }

  #set(turns: readonly ChatTurn[]): void {
    this.#turns = turns.slice(-MAX_TURNS);
    const isChatting = this.current !== undefined;
    if (this.#store.state.isChatting !== isChatting) this.#store.set({ isChatting });
    this.#changed();
  }

  #changed(): void {
    this.dispatchEvent(new Event("change"));
  }
}

/** The engine itself could not be asked. */
function failed(error: unknown): Outcome<never> {
  return { ok: false, problem: { code: "E_UNKNOWN", message: String(error) } };
}

function endpointIn(value: unknown): Endpoint | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { url, model, key } = value as Partial<Record<keyof Endpoint, unknown>>;
  if (typeof url !== "string" || typeof model !== "string" || typeof key !== "string") return undefined;
  return problemOf({ url, model }) === "" ? { url, model, key } : undefined;
}
