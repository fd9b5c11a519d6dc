/**
 * Models with OpenAI's chat completions: OpenAI, Ollama, vLLM, LM Studio, OpenRouter and others
 * (platform.openai.com/docs/api-reference/chat). Answers are a stream of events or one object.
 * @module
 */
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTests } from "../../errors/arguments.js";
import { adaptFetchError, fromStatus, quoteReason } from "../../tools/adapt-error.js";
import {
  jsonIn,
  type LlmAnswer,
  type LlmClient,
  type LlmMessage,
  type LlmOptions,
  type LlmRequest,
  type LlmTool,
  type LlmToolCall,
  LlmCaller,
  ASKING,
  type LlmRequestOptions,
  type TurnAttempt,
  wrongOption,
  type LlmUsage,
  MAX_ANSWER_BYTES,
  MAX_CALLS,
  type StopReason,
} from "./client.js";
import { createParser } from "eventsource-parser";
import { toSubject, ToolClientError, ToolConnectionError, ToolServerError } from "../../tools/errors.js";
import { chunksIn } from "../../core/value.js";

/** Options for `OpenAiClient`. */
export interface OpenAiClientOptions extends LlmRequestOptions {
  /** The model's name at its server, such as `gpt-4o` or `llama3.2`. */
  readonly model: string;
  /** The URL in front of `/chat/completions`, such as `http://localhost:11434/v1`. Defaults to OpenAI. */
  readonly baseUrl?: string;
  /** The bearer token, without spaces and line breaks, if the server needs one. It appears in no error and no log. */
  readonly apiKey?: string;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Further fields of the request, such as `temperature` or `max_completion_tokens`. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Sends the requests. Defaults to the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

const OPENAI = "https://api.openai.com/v1";

/** One model at one server. */
export class OpenAiClient implements LlmClient {
  readonly model: string;
  readonly provider: string = "openai";
  readonly #url: URL;
  readonly #options: OpenAiClientOptions;
  readonly #caller: LlmCaller;

  /** Throws E_INVALID_ARGUMENT for an option that is wrong or unknown. Headers are checked too. */
  constructor(options: OpenAiClientOptions) {
    checkClient(options);
    const { model, baseUrl = OPENAI } = options;
    this.model = model;
    this.#url = toEndpoint(baseUrl);
    this.#options = options;
    this.#caller = new LlmCaller(model, options);
  }

  async ask(request: LlmRequest, options: LlmOptions = {}): Promise<LlmAnswer> {
    const { body: more = {}, apiKey: secret } = this.#options;
    const body = JSON.stringify(toBody(request, this.model, more));
    return this.#caller.turn(async (attempt) => {
      const response = await this.#send(body, attempt);
      return readAnswer(response, { ...attempt, secret });
    }, options);
  }

  async #send(body: string, { signal, place }: TurnAttempt): Promise<Response> {
    const { apiKey, headers, fetch = globalThis.fetch } = this.#options;
    try {
      return await fetch(this.#url, {
        method: "POST",
        headers: {
          ...headers,
          "content-type": "application/json",
          accept: "text/event-stream, application/json",
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        },
        body,
        // The key is for this server only, so redirects are reported and not followed.
        redirect: "manual",
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw adaptFetchError(error, place);
    }
  }
}

/** A bearer token. Nothing is trimmed, so that it can be found where a server quotes it. */
const KEY = /^[\x21-\x7e\xa1-\xff]*$/;

/** Options without a test here are tested where they are used. */
const OPTIONS: OptionTests<OpenAiClientOptions> = {
  ...ASKING,
  model: ["the name of a model", (value) => typeof value === "string" && value !== ""],
  baseUrl: ANYTHING,
  apiKey: [
    "a string of Latin-1 characters without spaces and line breaks",
    (value) => typeof value === "string" && KEY.test(value),
  ],
  headers: ["an object of header names, each with a string of Latin-1 characters without line breaks", isHeaders],
  body: OBJECT,
  fetch: FUNCTION,
};

/** Throws E_INVALID_ARGUMENT, with the option's name as `path` and without its value, which may be a secret. */
function checkClient(options: OpenAiClientOptions): void {
  checkOptions(options, OPTIONS, "an OpenAiClient", wrongOption, ["model"]);
}

/** The URL of requests. Throws E_INVALID_ARGUMENT. */
function toEndpoint(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    const remedy = "such as http://localhost:11434/v1; use apiKey for credentials";
    throw wrongOption(`baseUrl must be an http(s) URL without a user, ${remedy}.`, "baseUrl");
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/chat/completions`;
  url.hash = "";
  return url;
}

/** Whether the platform accepts them as headers. `Headers` objects have no own properties: they would be lost. */
function isHeaders(value: unknown): boolean {
  if (!OBJECT[1](value) || value instanceof Headers) return false;
  const pairs = Object.entries(value as object);
  if (!pairs.every(([, text]) => typeof text === "string")) return false;
  try {
    const taken = new Headers(pairs as [string, string][]);
    return pairs.every(([name]) => taken.has(name));
  } catch {
    return false;
  }
}

/** The body of a request. */
function toBody(
  { messages, tools }: LlmRequest,
  model: string,
  more: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return {
    ...more,
    model,
    messages: messages.map(toMessage),
    // Some servers refuse an empty list.
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

function toMessage(message: LlmMessage): object {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: message.content };
  if (message.role !== "assistant") return { role: message.role, content: message.content };
  const { content, toolCalls } = message;
  if (toolCalls.length === 0) return { role: "assistant", content };
  // Null besides calls: some servers refuse an empty text.
  return { role: "assistant", content: content === "" ? null : content, tool_calls: toolCalls.map(toCall) };
}

function toTool({ name, description, inputSchema }: LlmTool): unknown {
  return { type: "function", function: { name, description, parameters: inputSchema } };
}

/** Some servers refuse a turn with arguments that are invalid JSON, even the model's own. */
function toCall({ id, name, arguments: text }: LlmToolCall): unknown {
  return { id, type: "function", function: { name, arguments: jsonIn(text) === undefined ? "{}" : text } };
}

/** Most bytes of a refusal that are read for its reason. */
const MAX_REASON_BYTES = 64 * 1024;

/** What reading an answer works with. */
interface Reading extends TurnAttempt {
  /** The key, which is removed from what the server quotes. */
  readonly secret: string | undefined;
}

/**
 * Reads an answer to its end.
 *
 * @throws ToolNodeErrors of the place; the signal's reason.
 */
async function readAnswer(response: Response, reading: Reading): Promise<LlmAnswer> {
  if (!response.ok) throw await toRefusal(response, reading);
  const type = response.headers.get("content-type") ?? "";
  if (/^\s*application\/json/i.test(type)) return object(response, reading);
  return stream(response, reading, /^\s*text\/event-stream/i.test(type));
}

/** Reads an answer that is one object. */
async function object(response: Response, reading: Reading): Promise<LlmAnswer> {
  const answer = jsonIn(await whole(response, reading, MAX_ANSWER_BYTES));
  const error = errorIn(answer);
  if (error !== undefined) throw toAnsweredError(error, reading, true);
  const assembly = new Assembly();
  const text = assembly.take(answer);
  if (!assembly.hasMessage) throw noCompletion(response, reading);
  if (text !== "") reading.onText(text);
  return assembly.answer();
}

/**
 * Reads an answer that is a stream of events.
 *
 * @param isSaid whether the server announced a stream: then an empty one was broken off.
 */
async function stream(response: Response, reading: Reading, isSaid: boolean): Promise<LlmAnswer> {
  const assembly = new Assembly();
  const subject = toSubject(reading.place);
  let count = 0;
  await events(response, reading, (text) => {
    const chunk = jsonIn(text);
    count += 1;
    if (chunk === undefined && assembly.hasChoices) {
      throw new ToolServerError(`${subject} sent invalid JSON in the middle of its answer: try again later.`);
    }
    if (chunk === undefined) throw noCompletion(response, reading);
    const error = errorIn(chunk);
    if (error !== undefined) throw toAnsweredError(error, reading, false);
    const added = assembly.take(chunk);
    if (added !== "") reading.onText(added);
  });
  if (assembly.isEnded) return assembly.answer();
  if (!assembly.hasChoices && !(isSaid && count === 0)) throw noCompletion(response, reading);
  throw new ToolConnectionError(`${subject} ended the connection before its answer was complete: try again later.`);
}

async function events(response: Response, reading: Reading, take: (text: string) => void): Promise<void> {
  let failure: unknown;
  const onEvent = ({ data }: { readonly data: string }): void => {
    // The parser calls back within `feed`, and throwing there would leave it in the middle.
    if (failure !== undefined || data === "[DONE]") return;
    try {
      take(data);
    } catch (error) {
      failure = error;
    }
  };
  const parser = createParser({ onEvent });
  const decoder = new TextDecoder();
  for await (const chunk of limitBytes(response, reading, MAX_ANSWER_BYTES)) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (failure !== undefined) throw failure as Error;
  }
  // Some servers do not end the last event with an empty line.
  parser.feed("\n\n");
  if (failure !== undefined) throw failure as Error;
}

async function whole(response: Response, reading: Reading, most: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of limitBytes(response, reading, most)) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

async function* limitBytes(
  response: Response,
  { place, signal, alive }: Reading,
  most: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of chunksIn(response)) {
      alive();
      bytes += chunk.byteLength;
      if (bytes > most) break;
      yield chunk;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw adaptFetchError(error, place);
  }
  if (bytes > most) {
    const remedy = "limit its answer, with max_tokens";
    throw new ToolClientError(`${toSubject(place)} gave an answer of more than ${most} bytes: ${remedy}.`);
  }
}

/** The error of a refusal: by its status, with the server's sentence if there is one. */
async function toRefusal(response: Response, reading: Reading): Promise<Error> {
  const { status, headers } = response;
  const error = isRedirect(response) ? toRedirectError(response, reading) : fromStatus(status, headers, reading.place);
  // A refused key may be another user's secret, and a redirect only says where it leads.
  if (status === 401 || status === 403 || isRedirect(response)) {
    await response.body?.cancel().catch(() => undefined);
    return error;
  }
  const reason = await whole(response, reading, MAX_REASON_BYTES).then(sentenceIn, () => "");
  error.message += quoteBehind(reason, reading);
  return error;
}

/** Most characters of a tool's name, and of a call's id. */
const MAX_NAME = 256;

interface Begun {
  id: string;
  name: string;
  text: string;
}

/** Assembles an answer of the chunks of a stream, or of one object. Ignores what it does not understand. */
class Assembly {
  #text = "";
  readonly #calls: Begun[] = [];
  /** The position of a call by the server's index. */
  readonly #places = new Map<number, number>();
  #stop: string | undefined;
  #hasChoices = false;
  #hasMessage = false;
  #usage: LlmUsage | undefined;

  /** Whether the server ended the answer. */
  get isEnded(): boolean {
    return this.#stop !== undefined;
  }

  /** Whether any chunk looked like a chat completion: the first ones of some servers are empty. */
  get hasChoices(): boolean {
    return this.#hasChoices;
  }

  /** Whether there was a message, even an empty one. */
  get hasMessage(): boolean {
    return this.#hasMessage;
  }

  /** Takes a parsed chunk, and returns the text that it adds. */
  take(chunk: unknown): string {
    const { choices, usage } = toFields(chunk);
    this.#usage = readUsage(usage) ?? this.#usage;
    const { delta, message, finish_reason: stop } = toFields(Array.isArray(choices) ? choices[0] : undefined);
    if (typeof stop === "string") this.#stop = stop;
    this.#hasChoices ||= Array.isArray(choices);
    const said = delta ?? message;
    this.#hasMessage ||= typeof said === "object" && said !== null;
    const { content, refusal, tool_calls: calls } = toFields(said);
    if (Array.isArray(calls)) for (const [at, call] of calls.entries()) this.#call(call, delta === undefined ? at : 0);
    // A refusal by the model is an answer, in a field of its own if a format was requested.
    const added = readText(content) + readText(refusal);
    this.#text += added;
    return added;
  }

  /** The answer. */
  answer(): LlmAnswer {
    const wanted = this.#calls.filter(({ name }) => name !== "");
    const toolCalls = distinct(wanted.slice(0, MAX_CALLS));
    const callsLeftOut = wanted.length - toolCalls.length;
    const usage = this.#usage;
    const stopReason = toStopReason(this.#stop, toolCalls.length > 0);
    return {
      text: this.#text,
      toolCalls,
      ...(callsLeftOut > 0 && { callsLeftOut }),
      stopReason,
      ...(usage !== undefined && { usage }),
    };
  }

  /** Takes a call, or a piece of one. Some servers omit the index, some give every call index 0. */
  #call(piece: unknown, otherwise: number): void {
    const { index, id, function: called } = toFields(piece);
    const { name, arguments: args } = toFields(called);
    const at = typeof index === "number" ? index : otherwise;
    const before = this.#calls[this.#places.get(at) ?? -1];
    const isNew = before === undefined || (isText(id) && before.id !== "" && id !== before.id);
    if (isNew) {
      this.#places.set(at, this.#calls.length);
      this.#calls.push({ id: shortenText(id), name: shortenText(name), text: readArguments(args) });
      return;
    }
    if (before.id === "") before.id = shortenText(id);
    // Most servers send the name once, some with each piece, none in pieces.
    if (before.name === "") before.name = shortenText(name);
    before.text += readArguments(args);
  }
}

/** An error in place of a chunk or an answer. Its message may be empty. */
function errorIn(chunk: unknown): { readonly message: string; readonly status: number | undefined } | undefined {
  const { error } = toFields(chunk);
  if (error === undefined || error === null) return undefined;
  if (typeof error === "string") return { message: error, status: undefined };
  const { message, code } = toFields(error);
  const status = typeof code === "number" && code >= 400 && code < 600 ? code : undefined;
  return { message: typeof message === "string" ? message : "", status };
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** A text, or the texts of a list of parts. */
function readText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => toFields(part)["text"])
    .filter(isText)
    .join("");
}

function shortenText(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_NAME) : "";
}

/** Most servers send JSON text, some an object. */
function readArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : "";
}

function distinct(calls: readonly Begun[]): readonly LlmToolCall[] {
  const ids = new Set<string>();
  return calls.map(({ id, name, text }, at) => {
    let own = id === "" ? `call_${at}` : id;
    while (ids.has(own)) own = `${own}_`;
    ids.add(own);
    return { id: own, name, arguments: text.trim() === "" ? "{}" : text };
  });
}

function readUsage(usage: unknown): LlmUsage | undefined {
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens } = toFields(usage);
  return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : undefined;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function toStopReason(said: string | undefined, hasCalls: boolean): StopReason {
  if (said === "length" || said === "content_filter") return said;
  // Several servers say "stop" despite calls.
  return hasCalls ? "tool_calls" : "stop";
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether it is a redirect. Browsers hide its target. */
function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || REDIRECTS.has(status);
}

/** The error for a redirect, which is not followed. */
function toRedirectError({ status, headers, url }: Response, { place, secret = "" }: Reading): ToolClientError {
  const known = status === 0 ? "" : ` (HTTP ${status})`;
  const remedy = "if that is correct, use the new address as baseUrl";
  const sentence = `${toSubject(place)} redirects${known}, and redirects are not followed: ${remedy}.`;
  const target = quoteReason(baseIn(headers.get("location"), url), { secrets: [secret] }, "It leads to");
  return new ToolClientError(sentence + target, {
    ...(status !== 0 && { status }),
  });
}

/** The error for an answer that is no chat completion. */
function noCompletion({ headers }: Response, { place }: Reading): ToolClientError {
  const [type] = /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(headers.get("content-type") ?? "") ?? [];
  const what =
    type === undefined ? "with something other than a chat completion" : `with ${type} instead of a chat completion`;
  const remedy = "check its address (baseUrl); on most servers it ends in /v1";
  return new ToolClientError(`${toSubject(place)} answered ${what}: ${remedy}.`);
}

/** The error for an error message in an answer with a successful status. */
function toAnsweredError(
  { message, status }: NonNullable<ReturnType<typeof errorIn>>,
  reading: Reading,
  isWhole: boolean,
): Error {
  const subject = toSubject(reading.place);
  const error = ((): Error => {
    if (status !== undefined) return fromStatus(status, undefined, reading.place);
    if (!isWhole) return new ToolServerError(`${subject} failed in the middle of its answer: try again later.`);
    return new ToolClientError(`${subject} answered with an error: check its name and its address (baseUrl).`);
  })();
  error.message += quoteBehind(message, reading);
  return error;
}

/** The server's sentence without the key, to append to ours. */
function quoteBehind(sentence: string, { secret = "" }: Reading): string {
  return quoteReason(sentence, { secrets: [secret] });
}

/** The server's sentence in a refusal, or empty. */
function sentenceIn(text: string): string {
  const answer = jsonIn(text);
  // Some servers put the error into a list.
  return errorIn(Array.isArray(answer) ? answer[0] : answer)?.message ?? "";
}

/** The base URL of a redirect's target, without possible secrets, or empty. */
function baseIn(location: string | null, asked: string): string {
  const base = asked === "" ? undefined : asked;
  if (location === null || !URL.canParse(location, base)) return "";
  const { protocol, origin, pathname } = new URL(location, base);
  return /^https?:$/.test(protocol) ? `${origin}${pathname.replace(/\/chat\/completions\/?$/, "")}` : "";
}
