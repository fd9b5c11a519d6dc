/**
 * The chat with the model of the page's server. The run is there and continues without a listener.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { Trajectory } from "mcp-sluice/planner";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ChatEnd, ChatEvent, ChatRequest } from "../chat/messages.js";
import { findServerName } from "../displays.js";
import type { Pauses } from "../pauses.js";
import { toServedPath } from "../shelves.js";
import { CANCELLED } from "../outcome.js";
import { RunEvents } from "./chat-events.js";
import { type Cursor, delay, followEvents, type ServedEvent } from "./events.js";
import { errorIn, type ServerClient, Unreachable } from "./client.js";

/** Failed connections in a row. After a crash another process takes over within a minute. */
const TRIES = 12;
/** UTF-16 units of each earlier answer that are sent. */
const MAX_ANSWER = 60_000;
/** Bytes of the JSON of a result. */
const MAX_END = 8 * 1024 * 1024;

const BEGUN: ReadonlySet<string> = new Set(["run_started", "run_resumed"]);

/** Events that end the stream of a run, or pause it. */
const LAST: ReadonlySet<string> = new Set(["result", "pause", "failed"]);

/** The questions that the server's model answers. */
export class ServedChat {
  readonly #client: ServerClient;
  readonly #pauses: ServedPauses;
  readonly #turns = new Map<string, ServedTurn>();

  constructor(client: ServerClient, pauses: Pauses) {
    this.#client = client;
    this.#pauses = new ServedPauses(pauses);
  }

  /** Answers a question. Throws the server's error, Unreachable, or AbortError if cancelled. */
  async ask(request: ChatRequest, tell: (event: ChatEvent) => void): Promise<ChatEnd> {
    const turn = new ServedTurn(this.#client);
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
        const answer = await this.#pauses.ask(last, request.id, turn.controller.signal);
        tell({ kind: "resumed" });
        const resume = { resume_token: last["resume_token"], answer };
        last = await this.#until(turn, events, () => this.#resume(resume, turn));
      }
      return await this.#end(last, events);
    } finally {
      this.#turns.delete(request.id);
    }
  }

  /** Cancels a turn, or one of its calls: `{step} {id}`. */
  stop(id: string, call?: string): void {
    this.#turns.get(id)?.stop(call);
  }

  /** Resumes the runs that wait for a provider the user returned from. */
  consented(provider: string, isGiven: boolean): void {
    this.#pauses.consented(provider, isGiven);
  }

  /** Cancels all of them. */
  stopAll(): void {
    for (const turn of this.#turns.values()) turn.stop();
  }

  /** Follows a run across connections until it ends or pauses. */
  async #until(turn: ServedTurn, events: RunEvents, begin: () => Promise<Response>): Promise<ServedEvent> {
    const { cursor } = turn;
    const { signal } = turn.controller;
    let isBegun = false;
    const open = async (after: string | undefined): Promise<Response> => {
      if (isBegun && turn.run !== undefined) return this.#again(turn.run, after, signal);
      // The question may have arrived: do not ask it twice.
      if (isBegun) throw new SluiceError("E_TOOL_CONNECTION", UNKNOWN);
      isBegun = true;
      return withoutRetry(begin());
    };
    for await (const event of followEvents({ open, signal, cursor, last: LAST, tries: TRIES })) {
      if (BEGUN.has(event.kind) && typeof event["run"] === "string") turn.run = event["run"];
      else if (LAST.has(event.kind)) return event;
      else events.hear(event);
    }
    throw new Unreachable();
  }

  #post(path: string, body: unknown, signal: AbortSignal): Promise<Response> {
    return this.#client.ask(path, { method: "POST", body, headers: STREAM, signal });
  }

  #again(run: string, after: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers = { ...STREAM, ...(after !== undefined && { "Last-Event-ID": after }) };
    return this.#client.ask(`chat/${encodeURIComponent(run)}`, { headers, signal });
  }

  /** Resumes a paused run. If the pause is unknown at a retry, the first answer arrived. */
  async #resume(body: object, turn: ServedTurn): Promise<Response> {
    const { signal } = turn.controller;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#post("chat/resume", body, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (tries > 1 && turn.run !== undefined && isUnknown(error))
          return this.#again(turn.run, turn.cursor.after, signal);
        if (!(error instanceof Unreachable) || tries >= TRIES) throw error;
      }
      await delay(1000, signal);
    }
  }

  /** The end of a run. Throws SluiceError if it failed. */
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

  /** The parts that were too large for the event and became an artifact; none if that is gone or too large. */
  async #whole(last: ServedEvent): Promise<Partial<Ended>> {
    const { trajectory, artifact } = last as unknown as Ended;
    if (trajectory !== null || artifact === undefined || (artifact.size_bytes ?? Infinity) > MAX_END) return {};
    return this.#client.json<Partial<Ended>>(toServedPath("served", artifact.id)).catch(() => ({}));
  }
}

/** The server's event at the end of a run. */
interface Ended extends Omit<ChatEnd, "trajectory"> {
  readonly trajectory: Trajectory | null;
  readonly artifact?: ShownArtifact;
}

const STREAM = { Accept: "text/event-stream" };
const UNKNOWN = "The connection broke before the server began: ask again.";

/** Turns Unreachable into an error that is not retried: the user asks again. */
async function withoutRetry(asking: Promise<Response>): Promise<Response> {
  try {
    return await asking;
  } catch (error) {
    throw error instanceof Unreachable ? new SluiceError(error.code, error.message) : error;
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "E_NOT_FOUND";
}

/** Milliseconds to wait for the id of a run that is cancelled before it has one. */
const ID_TIMEOUT = 5000;

/** One question and its run. */
class ServedTurn {
  readonly controller = new AbortController();
  readonly cursor: Cursor = {};
  readonly #client: ServerClient;
  /** The id of the run at the server, once it has started. */
  #run: string | undefined;
  #isStopped = false;

  constructor(client: ServerClient) {
    this.#client = client;
  }

  get run(): string | undefined {
    return this.#run;
  }

  set run(name: string | undefined) {
    this.#run = name;
    if (this.#isStopped) this.stop();
  }

  /** Cancels one call, or the whole run, here and at the server. */
  stop(call?: string): void {
    const run = this.#run;
    if (call !== undefined) {
      if (run !== undefined) this.#delete(`chat/${encodeURIComponent(run)}?call=${encodeURIComponent(call)}`);
      return;
    }
    this.#isStopped = true;
    const leave = (): void => this.controller.abort(new DOMException(CANCELLED.message, "AbortError"));
    if (run === undefined) {
      setTimeout(leave, ID_TIMEOUT);
      return;
    }
    this.#delete(`chat/${encodeURIComponent(run)}`);
    leave();
  }

  #delete(path: string): void {
    const asking = (): Promise<unknown> => this.#client.ask(path, { method: "DELETE" });
    // Fails if the run has ended. An unreachable server is asked once more.
    asking().catch((error: unknown) => (error instanceof Unreachable ? asking().catch(() => undefined) : undefined));
  }
}

/** The server's event for a pause. */
interface Paused {
  readonly tool: string;
  readonly reason: Parameters<ReturnType<Pauses["for"]>>[0];
  readonly payload: Readonly<Record<string, unknown>>;
}

interface OpenPause {
  /** The provider of a sign-in; undefined for other pauses. */
  readonly provider: unknown;
  readonly over: AbortController;
  isGiven: boolean | undefined;
}

/** The open pauses. */
export class ServedPauses {
  readonly #pauses: Pauses;
  readonly #asked = new Set<OpenPause>();

  constructor(pauses: Pauses) {
    this.#pauses = pauses;
  }

  /** The user's answer to a pause; null declines. Throws the signal's reason. */
  async ask(event: ServedEvent, question: string, signal: AbortSignal): Promise<unknown> {
    const { tool, reason, payload } = event as unknown as Paused;
    const asked: OpenPause = { provider: payload["provider"], over: new AbortController(), isGiven: undefined };
    const either = AbortSignal.any([signal, asked.over.signal]);
    this.#asked.add(asked);
    try {
      const answer = await this.#pauses.for(findServerName(tool), either, question)(reason, payload);
      // Opening a page is answered without a value.
      return answer === undefined ? true : answer;
    } catch (error) {
      if (asked.isGiven === undefined) throw error;
      return asked.isGiven ? true : null;
    } finally {
      this.#asked.delete(asked);
    }
  }

  /** Answers the pauses that wait for a provider the user returned from. */
  consented(provider: string, isGiven: boolean): void {
    for (const asked of this.#asked) {
      if (asked.provider !== provider) continue;
      asked.isGiven = isGiven;
      asked.over.abort(new DOMException("The provider was answered.", "AbortError"));
    }
  }
}
