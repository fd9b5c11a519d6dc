/**
 * The chat: a planner over all servers that are connected. Loaded when somebody first asks something.
 * @module
 */
import type { SluiceConfig } from "mcp-sluice";
import {
  ReactPlanner,
  type CallPlace,
  type PlannerEvent,
  type PlannerPause,
  type PlannerResult,
  type ResumeOptions,
} from "mcp-sluice/planner";
import { shownArtifact } from "../filed.js";
import { CANCELLED, problemOf } from "../problem.js";
import type { Servers } from "../servers.js";
import type { Session } from "../session.js";
import { callKey } from "./call-key.js";
import type { ChatEnd, ChatEvent, ChatRequest } from "./contract.js";
import { Displays, serverOf } from "./displays.js";
import { modelOf, overheard } from "./model.js";
import { Pieces } from "./pieces.js";

/** Turns of the model for one question. */
const MAX_STEPS = 12;

/** What goes on for one question. */
class Turn {
  readonly #controller = new AbortController();
  readonly #calls = new Map<string, AbortController>();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What gives up one call, which may have been given up before it begins. */
  callSignal({ step, call }: CallPlace): AbortSignal {
    return this.#call(callKey(step, call)).signal;
  }

  /** Gives up one call, or everything. */
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

/** The questions under way. */
export class Chat {
  readonly #session: Session;
  readonly #servers: Servers;
  readonly #turns = new Map<string, Turn>();

  constructor(session: Session, servers: Servers) {
    this.#session = session;
    this.#servers = servers;
  }

  /** Answers a question; what a model sees is decided by the configuration. Throws LlmError, SluiceError. */
  async ask(request: ChatRequest, config: SluiceConfig, tell: (event: ChatEvent) => void): Promise<ChatEnd> {
    const turn = new Turn();
    this.#turns.set(request.id, turn);
    const pieces = new Pieces(tell);
    try {
      return await this.#answered(request, config, turn, (event) => pieces.tell(event));
    } finally {
      pieces.flush();
      this.#turns.delete(request.id);
    }
  }

  /** Gives up a question, or one of its calls: `{step} {id}`. */
  stop(id: string, call?: string): void {
    this.#turns.get(id)?.stop(call);
  }

  /** Gives up all of them. */
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
    // Whoever could do nothing with files is not told their names.
    const isWithFiles = sources.some(({ userFiles }) => userFiles);
    const planner = new ReactPlanner({
      catalog: sources.map(({ node }) => node),
      ...(isWithFiles && { userFiles: (await this.#session.myFiles()).handling }),
      llm: overheard(modelOf(model), tell),
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

  /** Asks the person; null where they decline, or a provider does. */
  async #asked({ tool, reason, payload }: PlannerPause, question: string, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.#servers.pauses.for(serverOf(tool), signal, question)(reason, payload);
      // A page that was opened has no answer of its own.
      return answer === undefined ? true : answer;
    } catch {
      signal.throwIfAborted();
      // What a sign-in failed with the person was told where they came back.
      return null;
    }
  }
}

/** Waits no longer than until the signal: a server may take its time to be connected. */
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
      return displays.follow(event);
    case "tool_display":
      return displays.add(event);
    case "tool_failed": {
      const { error, ...place } = event;
      return tell({ ...place, problem: problemOf(error) });
    }
    default:
  }
}
