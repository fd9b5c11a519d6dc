/**
 * The chat with the model of the server that the page comes from: the run is there, and goes on whoever listens.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { Trajectory } from "mcp-sluice/planner";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ChatEnd, ChatEvent, ChatRequest } from "../chat/contract.js";
import type { Pauses } from "../pauses.js";
import { servedPath } from "./address.js";
import { RunEvents } from "./chat-events.js";
import { followed, rest, type ServedEvent } from "./events.js";
import { Away, errorIn, type Exchange } from "./exchange.js";
import { Questions } from "./questions.js";
import { ServedTurn } from "./turn.js";

/** Connections in a row that bring nothing: a process that died is missed for a minute, until another goes on. */
const TRIES = 12;
/** UTF-16 units of an answer of before that the server is told again. */
const MAX_ANSWER = 60_000;
/** Bytes of JSON of an answer with all that came of it. */
const MAX_END = 8 * 1024 * 1024;

const BEGUN: ReadonlySet<string> = new Set(["run_started", "run_resumed"]);

/** What ends the stream of a run, or the part of it until a person has answered. */
const LAST: ReadonlySet<string> = new Set(["result", "pause", "failed"]);

/** Questions that the server's model answers. */
export class ServedChat {
  readonly #exchange: Exchange;
  readonly #questions: Questions;
  readonly #turns = new Map<string, ServedTurn>();

  constructor(exchange: Exchange, pauses: Pauses) {
    this.#exchange = exchange;
    this.#questions = new Questions(pauses);
  }

  /** Answers a question. Throws what the server says, Away, and AbortError where it is given up. */
  async ask(request: ChatRequest, tell: (event: ChatEvent) => void): Promise<ChatEnd> {
    const turn = new ServedTurn(this.#exchange);
    this.#turns.set(request.id, turn);
    const events = new RunEvents(tell);
    try {
      const { query, before, timeout } = request;
      const conversation = before.map(({ query: asked, answer }) => ({
        query: asked,
        answer: answer.slice(0, MAX_ANSWER),
      }));
      const body = { query, conversation, ...(timeout !== undefined && { timeout_seconds: timeout }) };
      let last = await this.#until(turn, events, () => this.#post("chat", body, turn.controller.signal));
      while (last.kind === "pause") {
        const answer = await this.#questions.ask(last, request.id, turn.controller.signal);
        tell({ kind: "resumed" });
        const resume = { resume_token: last["resume_token"], answer };
        last = await this.#until(turn, events, () => this.#resumed(resume, turn));
      }
      return await this.#end(last, events);
    } finally {
      this.#turns.delete(request.id);
    }
  }

  /** Gives up a question, or one of its calls: `{step} {id}`. */
  stop(id: string, call?: string): void {
    this.#turns.get(id)?.stop(call);
  }

  /** A person came back from a provider: runs that wait for that go on. */
  consented(provider: string, isGiven: boolean): void {
    this.#questions.consented(provider, isGiven);
  }

  /** Gives up all of them. */
  stopAll(): void {
    for (const turn of this.#turns.values()) turn.stop();
  }

  /** Follows a run until it ends or waits for a person, whatever becomes of the connection. */
  async #until(turn: ServedTurn, events: RunEvents, begin: () => Promise<Response>): Promise<ServedEvent> {
    const { cursor } = turn;
    const { signal } = turn.controller;
    let isBegun = false;
    const open = async (after: string | undefined): Promise<Response> => {
      if (isBegun && turn.run !== undefined) return this.#again(turn.run, after, signal);
      // A question that may have been asked is not asked twice.
      if (isBegun) throw new SluiceError("E_TOOL_CONNECTION", UNKNOWN);
      isBegun = true;
      return firmly(begin());
    };
    for await (const event of followed({ open, signal, cursor, last: LAST, tries: TRIES })) {
      if (BEGUN.has(event.kind) && typeof event["run"] === "string") turn.run = event["run"];
      else if (LAST.has(event.kind)) return event;
      else events.hear(event);
    }
    throw new Away();
  }

  #post(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
    return this.#exchange.ask(path, { method: "POST", body, headers: STREAM, signal });
  }

  #again(run: string, after: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers = { ...STREAM, ...(after !== undefined && { "Last-Event-ID": after }) };
    return this.#exchange.ask(`chat/${encodeURIComponent(run)}`, { headers, signal });
  }

  /** Goes on with a run that waited. An answer that was taken is known by its question, which is there no more. */
  async #resumed(body: object, turn: ServedTurn): Promise<Response> {
    const { signal } = turn.controller;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#post("chat/resume", body, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (tries > 1 && turn.run !== undefined && isUnknown(error))
          return this.#again(turn.run, turn.cursor.after, signal);
        if (!(error instanceof Away) || tries >= TRIES) throw error;
      }
      await rest(1000, signal);
    }
  }

  /** What the run came to. Throws SluiceError where it failed. */
  async #end(last: ServedEvent, events: RunEvents): Promise<ChatEnd> {
    if (last.kind === "failed") {
      const { code = "E_INTERNAL", message = "The run failed: ask again." } = errorIn(last);
      throw new SluiceError(code, message);
    }
    const { trajectory, ...end } = { ...(last as unknown as Ended), ...(await this.#whole(last)) };
    if (trajectory === null) return { answer: end.answer, outcome: end.outcome, spent: end.spent };
    events.saw(trajectory);
    return { answer: end.answer, outcome: end.outcome, spent: end.spent, trajectory };
  }

  /** What was too large for an event is an artifact; where that is too large too, or gone, what came stands. */
  async #whole(last: ServedEvent): Promise<Partial<Ended>> {
    const { trajectory, artifact } = last as unknown as Ended;
    if (trajectory !== null || artifact === undefined || (artifact.size_bytes ?? Infinity) > MAX_END) return {};
    return this.#exchange.json<Partial<Ended>>(servedPath("served", artifact.id)).catch(() => ({}));
  }
}

/** What a run came to, as the server says it. */
interface Ended extends Omit<ChatEnd, "trajectory"> {
  readonly trajectory: Trajectory | null;
  readonly artifact?: ShownArtifact;
}

const STREAM = { Accept: "text/event-stream" };
const UNKNOWN = "The connection broke before the server began: ask again.";

/** A question that nobody took is not asked once more by itself: a person sees that, and asks. */
async function firmly(asking: Promise<Response>): Promise<Response> {
  try {
    return await asking;
  } catch (error) {
    throw error instanceof Away ? new SluiceError(error.code, error.message) : error;
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "E_NOT_FOUND";
}
