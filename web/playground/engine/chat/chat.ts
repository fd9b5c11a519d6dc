/**
 * The chat: a planner over all connected servers, and its models. Loaded for the first question.
 * @module
 */
import { type SluiceConfig, SluiceError } from "mcp-sluice";
import {
  type LlmClient,
  type LlmMessage,
  OpenAiClient,
  type PlannerEvent,
  type PlannerPause,
  type PlannerResult,
  ReactPlanner,
  type ResumeOptions,
  createScriptedModel,
} from "mcp-sluice/planner";
import { Displays, findServerName, toShownArtifact } from "../displays.js";
import { CANCELLED, describeProblem } from "../outcome.js";
import type { ShownPromptMessage, ShownSampling } from "../messages.js";
import type { Servers } from "../servers.js";
import type { Session } from "../session.js";
import {
  callKey,
  type CallPlace,
  type ChatEnd,
  type ChatEvent,
  type ChatModel,
  type ChatRequest,
  type Endpoint,
  type SeenMessage,
} from "./messages.js";
import { script } from "./script.js";

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
      return await this.#answer(request, config, turn, (event) => pieces.tell(event));
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

  async #answer(
    { id, query, before, model, timeout }: ChatRequest,
    config: SluiceConfig,
    turn: Turn,
    tell: (event: ChatEvent) => void,
  ): Promise<ChatEnd> {
    const { store, scope } = this.#session;
    const { signal } = turn;
    const sources = await orAborted(this.#servers.planned(config), signal);
    const displays = new Displays(toShownArtifact, (display) => tell({ kind: "display", display }));
    // Without a tool that takes files, the model does not learn their names.
    const isWithFiles = sources.some(({ userFiles }) => userFiles);
    const planner = new ReactPlanner({
      catalog: sources.map(({ node }) => node),
      ...(isWithFiles && { userFiles: (await this.#session.myFiles()).handling }),
      llm: observeClient(makeModel(model), tell),
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
      const answer = await this.#ask(outcome, id, signal);
      tell({ kind: "resumed" });
      outcome = await planner.resume(outcome.resumeToken, { ...options, answer });
    }
    return toChatEnd(outcome);
  }

  /** The user's answer to a pause; null if the user or a provider declines. */
  async #ask({ tool, reason, payload }: PlannerPause, question: string, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.#servers.pauses.for(findServerName(tool), signal, question)(reason, payload);
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

function toChatEnd({ answer, outcome, spent, trajectory }: PlannerResult): ChatEnd {
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
      return tell({ ...place, problem: describeProblem(error) });
    }
    default:
  }
}

/** Milliseconds between the script's words, so that they stream visibly. */
const PACE = 12;

/** The client of a model. Throws E_INVALID_ARGUMENT for an invalid URL. */
function makeModel(model: ChatModel): LlmClient {
  if (model.kind === "endpoint") return makeClient(model);
  if (model.kind === "served") throw new SluiceError("E_MISUSE", "The server's model is asked by the server.");
  const answer = createScriptedModel(script);
  return new OpenAiClient({
    model: "scripted",
    baseUrl: "https://scripted.invalid/v1",
    fetch: async (input, init) => paceResponse(await answer(input, init)),
  });
}

/** `body` is what each request has besides. Throws E_INVALID_ARGUMENT for an invalid URL. */
function makeClient(
  { url: baseUrl, model, key }: Endpoint,
  body: Readonly<Record<string, unknown>> = {},
): OpenAiClient {
  return new OpenAiClient({ model, baseUrl, body, ...(key !== "" && { apiKey: key }) });
}

/**
 * A model's reply to a server that asks for one. Of bytes and long texts the model is told what they are. Throws LlmError and
 * SluiceError.
 */
export async function askModel(
  endpoint: Endpoint,
  { messages, system_prompt, max_tokens }: ShownSampling,
): Promise<string> {
  const system = system_prompt === "" ? [] : [{ role: "system", content: system_prompt } as const];
  const request = { messages: [...system, ...messages.map(toLlmMessage)], tools: [] };
  const { text } = await makeClient(endpoint, { max_tokens }).ask(request);
  if (text === "") throw new SluiceError("E_LLM", "The model answered without a text: ask it again, or write one.");
  return text;
}

function toLlmMessage({ role, content }: ShownPromptMessage): LlmMessage {
  const text = content.kind === "text" ? content.text : `[${content.summary}]`;
  return role === "user" ? { role, content: text } : { role, content: text, toolCalls: [] };
}

/** The same client, which reports what the model is sent and calls. */
function observeClient(llm: LlmClient, tell: (event: ChatEvent) => void): LlmClient {
  let [step, known] = [0, 0];
  return {
    model: llm.model,
    ask: async (request, options) => {
      step += 1;
      const messages = request.messages.slice(known).flatMap(listSeen);
      known = request.messages.length;
      tell({ kind: "asked", step, messages, tools: request.tools.length });
      const answer = await llm.ask(request, options);
      const calls = answer.toolCalls.map(({ id, name, arguments: args }) => ({ id, name, args }));
      tell({ kind: "wanted", step, calls: request.tools.length === 0 ? [] : calls });
      return answer;
    },
  };
}

/** The messages that are new to the model: all but its own. */
function listSeen(message: LlmMessage): readonly SeenMessage[] {
  if (message.role === "assistant") return [];
  if (message.role !== "tool") return [{ role: message.role, text: message.content }];
  return [{ role: "tool", text: message.content, tool: message.name, call: message.callId }];
}

function paceResponse(response: Response): Response {
  const slowly = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      await new Promise((resolve) => setTimeout(resolve, PACE));
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(slowly) ?? null, response);
}

/** Milliseconds that text is collected. */
const TEXT_INTERVAL = 50;

/** Passes events on in order, with text in fewer chunks: the page renders the whole answer for each. */
export class TextBuffer {
  readonly #tell: (event: ChatEvent) => void;
  #text: Extract<ChatEvent, { readonly kind: "text" }> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tell: (event: ChatEvent) => void) {
    this.#tell = tell;
  }

  /** Collects text for a moment. Other events pass at once, after the text before them. */
  tell(event: ChatEvent): void {
    if (event.kind !== "text" || (this.#text !== undefined && this.#text.step !== event.step)) this.flush();
    if (event.kind !== "text") return this.#tell(event);
    this.#text = { ...event, text: (this.#text?.text ?? "") + event.text };
    this.#timer ??= setTimeout(() => this.flush(), TEXT_INTERVAL);
  }

  /** Passes on the collected text. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = undefined;
    if (text !== undefined) this.#tell(text);
  }
}
