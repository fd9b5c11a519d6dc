/**
 * The chat: a planner over all connected servers. Loaded for the first question.
 * @module
 */
import type { SluiceConfig } from "mcp-sluice";
import {
  type PlannerEvent,
  type PlannerPause,
  type PlannerResult,
  ReactPlanner,
  type ResumeOptions,
} from "mcp-sluice/planner";
import { Displays, serverOf, shownArtifact } from "../displays.js";
import { CANCELLED, problemOf } from "../outcome.js";
import type { Servers } from "../servers.js";
import type { Session } from "../session.js";
import { callKey, type CallPlace, type ChatEnd, type ChatEvent, type ChatRequest } from "./messages.js";
import { modelOf, observed, TextBuffer } from "./model.js";

/** Steps per question. */
const MAX_STEPS = 12;

/** The abort signals of one question and its calls. */
class Turn {
  readonly #controller = new AbortController();
  readonly #calls = new Map<string, AbortController>();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The signal of a call, which may be aborted before the call starts. */
  callSignal({ step, call }: CallPlace): AbortSignal {
    return this.#call(callKey(step, call)).signal;
  }

  /** Cancels one call, or the whole turn. */
  stop(call?: string): void {
    const controller = call === undefined ? this.#controller : this.#call(call);
    controller.abort(new DOMException(CANCELLED.message, "AbortError"));
  }

  #call(key: string): AbortController {
    const controller = this.#calls.get(key) ?? new AbortController();
    this.#calls.set(key, controller);
    return controller;
  }
}

/** The running turns. */
export class Chat {
  readonly #session: Session;
  readonly #servers: Servers;
  readonly #turns = new Map<string, Turn>();

  constructor(session: Session, servers: Servers) {
    this.#session = session;
    this.#servers = servers;
  }

  /** Answers a question under a configuration. Throws LlmError and SluiceError. */
  async ask(request: ChatRequest, config: SluiceConfig, tell: (event: ChatEvent) => void): Promise<ChatEnd> {
    const turn = new Turn();
    this.#turns.set(request.id, turn);
    const pieces = new TextBuffer(tell);
    try {
      return await this.#answered(request, config, turn, (event) => pieces.tell(event));
    } finally {
      pieces.flush();
      this.#turns.delete(request.id);
    }
  }

  /** Cancels a turn, or one of its calls: `{step} {id}`. */
  stop(id: string, call?: string): void {
    this.#turns.get(id)?.stop(call);
  }

  /** Cancels all of them. */
  stopAll(): void {
    for (const turn of this.#turns.values()) turn.stop();
  }

  async #answered(
    { id, query, before, model, timeout }: ChatRequest,
    config: SluiceConfig,
    turn: Turn,
    tell: (event: ChatEvent) => void,
  ): Promise<ChatEnd> {
    const { store, scope } = this.#session;
    const { signal } = turn;
    const sources = await orAborted(this.#servers.planned(config), signal);
    const displays = new Displays(shownArtifact, (display) => tell({ kind: "display", display }));
    // Without a tool that takes files, the model does not learn their names.
    const isWithFiles = sources.some(({ userFiles }) => userFiles);
    const planner = new ReactPlanner({
      catalog: sources.map(({ node }) => node),
      ...(isWithFiles && { userFiles: (await this.#session.myFiles()).handling }),
      llm: observed(modelOf(model), tell),
      artifactStore: store,
      config,
      budget: { maxSteps: MAX_STEPS },
    });
    const options: ResumeOptions = {
      scope,
      signal,
      callSignal: (place) => turn.callSignal(place),
      onEvent: (event) => passOn(event, tell, displays),
      ...(timeout !== undefined && { callTimeoutSeconds: timeout }),
    };
    const llmContext = before.length === 0 ? {} : { conversation: before };
    let outcome = await planner.run(query, { ...options, llmContext });
    while (outcome.kind === "pause") {
      const answer = await this.#asked(outcome, id, signal);
      tell({ kind: "resumed" });
      outcome = await planner.resume(outcome.resumeToken, { ...options, answer });
    }
    return endOf(outcome);
  }

  /** The user's answer to a pause; null if the user or a provider declines. */
  async #asked({ tool, reason, payload }: PlannerPause, question: string, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.#servers.pauses.for(serverOf(tool), signal, question)(reason, payload);
      // Opening a page is answered without a value.
      return answer === undefined ? true : answer;
    } catch {
      signal.throwIfAborted();
      // The user already saw why a sign-in failed.
      return null;
    }
  }
}

/** Rejects when the signal aborts: connecting a server may take long. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    work.then(resolve, reject);
  });
}

function endOf({ answer, outcome, spent, trajectory }: PlannerResult): ChatEnd {
  return { answer, outcome, spent, trajectory };
}

function passOn(event: PlannerEvent, tell: (event: ChatEvent) => void, displays: Displays): void {
  switch (event.kind) {
    case "text":
    case "text_discarded":
    case "model_answered":
    case "tool_called":
    case "tool_progress":
    case "tool_waiting":
    case "tool_returned":
    case "observation_clamped":
    case "paused":
      return tell(event);
    case "artifact_stored":
    case "tool_answered":
      tell(event);
      return displays.stored(event);
    case "tool_display":
      return displays.add(event);
    case "tool_failed": {
      const { error, ...place } = event;
      return tell({ ...place, problem: problemOf(error) });
    }
    default:
  }
}
