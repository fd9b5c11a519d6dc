/**
 * The conversation of this visit, and the model that answers.
 * @module
 */
import { proxy, type Remote } from "comlink";
import {
  callKey,
  type ChatEvent,
  type ChatModel,
  type ChatRequest,
  type Endpoint,
} from "../../engine/chat/messages.js";
import type { Engine, Outcome } from "../../engine/messages.js";
import type { Actions } from "../actions.js";
import { type Store, withNotice } from "../state.js";
import { applyDisplay } from "../display.js";
import { remember, readRemembered } from "../browser.js";
import { type ChatTurn, withCancelled, withEvent } from "./turn.js";

/** Turns that are kept; older ones are dropped. */
const MAX_TURNS = 50;
/** Earlier turns that are sent to the model. */
const MAX_BEFORE = 10;

/** The turns of the chat, with those that this tab remembers. */
export class Conversation extends EventTarget {
  readonly #actions: Actions;
  readonly #engine: Pick<Remote<Engine>, "chat" | "stop">;
  readonly #store: Store;
  #turns: readonly ChatTurn[] = [];
  /** The chosen model; undefined uses the default. */
  #model: ChatModel | undefined;
  #isRemembered: boolean;
  readonly #recalling: Promise<void>;
  #hasRecalled = false;

  constructor(actions: Actions, store: Store) {
    super();
    this.#actions = actions;
    this.#engine = actions.engine;
    this.#store = store;
    const known = endpointIn(readRemembered<unknown>("model"));
    this.#model = known && { kind: "endpoint", ...known };
    this.#isRemembered = known !== undefined;
    this.#recalling = this.#recall();
  }

  /** Oldest first. */
  get turns(): readonly ChatTurn[] {
    return this.#turns;
  }

  /** The model that answers. Defaults to that of the page's server if it has one, else to the script. */
  get model(): ChatModel {
    return this.#model ?? { kind: this.#store.state.serve?.chat === true ? "served" : "scripted" };
  }

  /** Whether local storage keeps the endpoint. */
  get isRemembered(): boolean {
    return this.#isRemembered;
  }

  /** The running turn. */
  get current(): ChatTurn | undefined {
    return this.#turns.findLast(({ state }) => state === "running");
  }

  /** Chooses the model. `isRemembered` keeps an endpoint in local storage. */
  choose(model: ChatModel, isRemembered: boolean): void {
    this.#model = model;
    this.#isRemembered = isRemembered && model.kind === "endpoint";
    const { kind: _, ...endpoint } = model;
    remember("model", this.#isRemembered ? endpoint : undefined);
    this.#reportChange();
  }

  /** Asks a question, unless one is running. `timeout` limits the silence of each call, in seconds. */
  async ask(query: string, timeout?: number): Promise<void> {
    if (this.current !== undefined || query.trim() === "") return;
    const asked = { id: crypto.randomUUID(), query: query.trim(), ...(timeout !== undefined && { timeout }) };
    this.#set([...this.#turns, { ...asked, askedAt: Date.now(), state: "running", steps: [] }]);
    await Promise.all([this.#recalling, this.#actions.whenReady()]);
    // It was stopped before the page was ready.
    if (!this.#isRunning(asked.id)) return;
    const request: ChatRequest = { ...asked, before: this.#before(), model: this.model };
    this.#change(request.id, (turn) => ({ ...turn, by: request.model.kind }));
    const tell = (event: ChatEvent): void => {
      if (event.kind === "display") applyDisplay(event.display, this.#actions);
      else this.#change(request.id, (turn) => withEvent(turn, event, Date.now()));
    };
    const outcome = await this.#engine.chat(request, proxy(tell)).catch(toFailure);
    // The session ended meanwhile.
    if (!this.#isRunning(request.id)) return;
    this.#change(request.id, (turn) => {
      if (outcome.ok) return { ...turn, state: "done", end: outcome.value };
      const isCancelled = outcome.problem.code === "E_CANCELLED";
      return { ...turn, state: isCancelled ? "cancelled" : "failed", problem: outcome.problem };
    });
    this.#notify(outcome.ok);
  }

  /** Cancels the running turn. */
  stop(): void {
    const { current } = this;
    if (current === undefined) return;
    if (current.by === undefined) this.#change(current.id, (turn) => ({ ...turn, state: "cancelled" }));
    else this.#engine.stop(current.id).catch(() => undefined);
  }

  /** Cancels one call of the running turn; the model continues without its result. */
  cancel(step: number, call: string): void {
    const { current } = this;
    if (current === undefined) return;
    this.#change(current.id, (turn) => withCancelled(turn, step, call));
    this.#engine.stop(current.id, callKey(step, call)).catch(() => undefined);
  }

  /** Starts a new conversation. */
  clear(): void {
    if (this.current === undefined) this.#set([]);
  }

  /** Forgets everything at the end of a session, which has stopped what was running. */
  reset(): void {
    this.#set([]);
  }

  /** The key of the model's server; empty if there is none. */
  get secret(): string {
    return this.#model?.kind === "endpoint" ? this.#model.key : "";
  }

  /** Shows the turns that this tab remembers, before those that were asked meanwhile. */
  async #recall(): Promise<void> {
    const before = await this.#actions.recalledTurns();
    this.#hasRecalled = true;
    this.#set([...before, ...this.#turns]);
  }

  #isRunning(id: string): boolean {
    return this.current?.id === id;
  }

  #before(): { readonly query: string; readonly answer: string }[] {
    return this.#turns
      .flatMap(({ query, end }) => (end === undefined ? [] : [{ query, answer: end.answer }]))
      .slice(-MAX_BEFORE);
  }

  /** Notifies a user who is in another view. */
  #notify(isDone: boolean): void {
    const { state } = this.#store;
    if (state.view === "chat") return;
    const text = isDone ? "The chat has an answer." : "The chat could not answer.";
    this.#store.set(withNotice(state, { level: isDone ? "info" : "bad", text }));
  }

  #change(id: string, change: (turn: ChatTurn) => ChatTurn): void {
    this.#set(this.#turns.map((turn) => (turn.id === id ? change(turn) : turn)));
  }

  #set(turns: readonly ChatTurn[]): void {
    this.#turns = turns.slice(-MAX_TURNS);
    const isChatting = this.current !== undefined;
    if (this.#store.state.isChatting !== isChatting) this.#store.set({ isChatting });
    // Until then, those that are not here would count as forgotten.
    if (this.#hasRecalled) this.#actions.keepTurns(this.#turns, this.secret);
    this.#reportChange();
  }

  #reportChange(): void {
    this.dispatchEvent(new Event("change"));
  }
}

/** The outcome when the call to the engine itself fails. */
function toFailure(error: unknown): Outcome<never> {
  return { ok: false, problem: { code: "E_UNKNOWN", message: String(error) } };
}

function endpointIn(value: unknown): Endpoint | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { url, model, key } = value as Partial<Record<keyof Endpoint, unknown>>;
  if (typeof url !== "string" || typeof model !== "string" || typeof key !== "string") return undefined;
  return endpointProblem({ url, model }) === "" ? { url, model, key } : undefined;
}

/** Why an endpoint is invalid, as a sentence that says what to do; empty if it is valid. */
export function endpointProblem({ url, model }: Pick<Endpoint, "url" | "model">): string {
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    return "The address must be an http or https URL, such as http://localhost:11434/v1.";
  }
  return model === "" ? "Name the model as its server calls it, such as llama3.2." : "";
}
