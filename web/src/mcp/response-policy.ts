/**
 * Decides which messages from a server are gated, edited or forwarded unchanged.
 * @module
 */
import type { GatedResult, Transformed, TransformOptions } from "../core/types.js";
import { MAX_MESSAGE } from "../jsonrpc/limits.js";
import type { JsonRpcScanner } from "../jsonrpc/json-rpc-scanner.js";
import type { MessageAction, GateAnswer, MessagePolicy } from "../jsonrpc/message-rewriter.js";
import type { Catalog } from "./catalog.js";
import type { InFlight, Request } from "./in-flight.js";
import { tryParse, stringOr } from "../jsonrpc/rpc.js";
import { isGuardedAnswer, isGuardedMethod } from "./message-guard.js";
import { tooLargeForClient } from "./message-refusal.js";
import { joinWhole, MAX_WHOLE } from "./whole-result.js";

/** Rewrites an answer, as JSON text. Undefined leaves it unchanged. */
export type AnswerEdit = (message: string) => string | undefined | Promise<string | undefined>;

interface ResponsePolicyDeps {
  readonly inFlight: InFlight;
  readonly catalog: Catalog;
  /** Options for a tool's results, or for any other message if there is no tool. */
  readonly options: (tool: string | undefined) => TransformOptions;
  /** Writes a reduced result as the client needs it. */
  readonly written: (reduced: Transformed, request: Request | undefined) => Promise<string>;
  /** Restores a reduced result. */
  readonly restored: (reduced: Transformed) => AsyncIterable<Uint8Array>;
  /** The edit for the answer to a request, if there is one. */
  readonly edit: (request: Request) => AnswerEdit | undefined;
  /** Takes bytes out of a message that is no result of a call. `asked` is the method of the request that it answers. */
  readonly guard: (message: string, asked?: string) => Promise<string>;
  /** Whether the client hands a resource that it reads to its model. */
  readonly readsForModel: () => boolean;
  /** Whether results of calls come as the client needs them. */
  readonly passesResults: boolean;
}

/** Task status notifications, which may carry the result (Tasks extension, 2026-07-28). */
const TASK_NOTIFICATIONS: ReadonlySet<string> = new Set(["notifications/tasks", "notifications/tasks/status"]);

/** Prefix of the methods of all notifications. */
const NOTIFICATIONS = "notifications/";

const PASS: MessageAction = { kind: "pass" };
const RAW: MessageAction = { kind: "raw" };

/** Forward it unchanged, or refuse it if it is too large: a list, or completions, are useless with references in them. */
const WHOLE: MessageAction = { kind: "edit", edit: () => undefined };

/** Why a message is not forwarded, and nothing in its place. */
export const DROPPED: DOMException = new DOMException("The client does not wait for this message.", "AbortError");

/** Drop it. */
const DROP: MessageAction = {
  kind: "edit",
  edit: () => {
    throw DROPPED;
  },
};

/** Decides by the request that a message answers, or may answer while its id is not known. */
export class ResponsePolicy implements MessagePolicy {
  readonly #deps: ResponsePolicyDeps;

  constructor(deps: ResponsePolicyDeps) {
    this.#deps = deps;
  }

  get fallback(): TransformOptions {
    return this.#deps.options(undefined);
  }

  readonly finish = (message: string): Promise<string> => this.#deps.guard(message);

  decide(message: JsonRpcScanner, isWhole: boolean): MessageAction | undefined {
    const id = message.text("id");
    // It cannot be buffered any longer.
    const isUrgent = message.size > MAX_MESSAGE;
    if (message.member("result") !== undefined) {
      if (id !== undefined || isWhole) return this.#answer(this.#deps.inFlight.find(id), message);
      return this.#anyAnswer(message, isUrgent) ?? (isUrgent ? this.#gate("result", message) : undefined);
    }
    const method = message.text("method");
    if (method !== undefined) return this.#answerUnasked(stringIn(method), message, isWhole, isUrgent);
    if (isWhole) {
      const request = this.#deps.inFlight.find(id);
      if (request?.isLate === true) return DROP;
      return message.member("error") === undefined ? PASS : this.#guard(request?.method);
    }
    if (message.member("params") !== undefined) return isUrgent ? this.#lateUnasked(message) : undefined;
    const request = this.#deps.inFlight.find(id);
    return request === undefined ? undefined : this.#answer(request, message);
  }

  /**
   * The common action for all waiting requests; undefined if they differ. An action other than gating is chosen only
   * when the message cannot be buffered any longer: it may answer another request, or none.
   */
  #anyAnswer(message: JsonRpcScanner, isUrgent: boolean): MessageAction | undefined {
    let only: MessageAction | undefined;
    for (const request of this.#deps.inFlight.requests()) {
      const action = this.#answer(request, message);
      if (only !== undefined && !isSame(only, action)) return undefined;
      only ??= action;
    }
    if (only !== undefined && only.kind !== "gate" && !isUrgent) return undefined;
    return only ?? this.#gate("result", message);
  }

  /**
   * Decides about requests and notifications from the server. A request that is too large is refused, since clients
   * cannot use a reference there. Until then it is buffered, as a result may still follow.
   */
  #answerUnasked(
    method: string,
    message: JsonRpcScanner,
    isWhole: boolean,
    isUrgent: boolean,
  ): MessageAction | undefined {
    if (TASK_NOTIFICATIONS.has(method)) return this.#gate("params.result", message, true);
    if (isWhole && isGuardedMethod(method)) return this.#guard();
    if (isWhole || method.startsWith(NOTIFICATIONS)) return PASS;
    return isUrgent ? WHOLE : undefined;
  }

  /** Decides about parameters that are too large to wait for the method. */
  #lateUnasked(message: JsonRpcScanner): MessageAction {
    const answer = async (result: GatedResult): Promise<GateAnswer> => {
      await using gated = result;
      const method = message.text("method");
      if (method !== undefined && !stringIn(method).startsWith(NOTIFICATIONS)) throw tooLargeForClient();
      const reduced = await gated.answer();
      return { text: reduced.text, reduced };
    };
    return { kind: "gate", member: "params", options: this.fallback, answer };
  }

  #answer(request: Request | undefined, message: JsonRpcScanner): MessageAction {
    const { catalog, edit, passesResults } = this.#deps;
    // Clients differ in which id they accept, so an answer to no known request is treated as a tool's.
    if (request === undefined) return this.#gate("result", message);
    if (request.isLate === true) return DROP;
    switch (request.method) {
      case "tools/call":
        if (passesResults) return WHOLE;
        return this.#result(request, message);
      case "tasks/result":
        return this.#result(request, message);
      case "tasks/get":
        return catalog.isAppOnly(request.tool) ? RAW : this.#gate("result.result", message, true);
      case "resources/read":
        if (request.uri?.startsWith("ui://") === true) return RAW;
        return this.#deps.readsForModel() ? this.#gate("result", message) : PASS;
      case "completion/complete":
        return WHOLE;
      default:
        return isGuardedAnswer(request.method) ? this.#guard(request.method, edit(request)) : PASS;
    }
  }

  /** Takes the bytes out of a whole message, and then edits it. If that edit fails, the message stays without it. */
  #guard(asked?: string, edit?: AnswerEdit): MessageAction {
    const guardWhole = async (message: string): Promise<string> => {
      const safe = await this.#deps.guard(message, asked);
      try {
        return (await edit?.(safe)) ?? safe;
      } catch {
        return safe;
      }
    };
    return { kind: "edit", edit: guardWhole };
  }

  /** What only an app reads is not gated. */
  #result({ tool }: Request, message: JsonRpcScanner): MessageAction {
    return this.#deps.catalog.isAppOnly(tool) ? RAW : this.#gate("result", message);
  }

  /**
   * Gates a member. The tool is known at the end of the message at the latest, and decides how the result is written. `hasMore`: there is more
   * beside the member that a model could be shown.
   */
  #gate(member: string, message: JsonRpcScanner, hasMore = false): MessageAction {
    const { guard, inFlight, options, restored, written } = this.#deps;
    const requestNow = (): Request | undefined => inFlight.find(message.text("id"));
    const answer = async (result: GatedResult): Promise<GateAnswer> => {
      await using gated = result;
      const request = requestNow();
      const { kind } = member === "result" ? this.#answer(request, message) : { kind: "gate" };
      if (kind === "edit") throw tooLargeForClient();
      const reduced = await gated.answer(request?.tool === undefined ? {} : { tool: request.tool });
      const isWhole = request?.wantsWhole === true && reduced.changed && reduced.bytesIn <= MAX_WHOLE;
      const original =
        (kind === "raw" || isWhole) && reduced.changed
          ? (gated.original ?? (await beginReading(restored(reduced))))
          : undefined;
      if (original !== undefined && isWhole) return { text: await joinWhole(original, reduced), reduced };
      if (original !== undefined && kind === "raw") return { text: "", original: toAsync(original) };
      return { text: await written(reduced, request), reduced };
    };
    const edit = (whole: string): Promise<string> => guard(whole, requestNow()?.method);
    const tool = (requestNow() ?? this.#onlyCall())?.tool;
    return { kind: "gate", member, options: options(tool), answer, ...(hasMore && { edit }) };
  }

  /** What a result without its id most likely answers: a call of the only tool that is called. */
  #onlyCall(): Request | undefined {
    const calls = [...this.#deps.inFlight.requests()].filter(({ method }) => method === "tools/call");
    return calls.every(({ tool }) => tool === calls[0]?.tool) ? calls[0] : undefined;
  }
}

async function* toAsync(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Waits for the first chunk. Undefined if the store cannot give back the content. */
async function beginReading(chunks: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array> | undefined> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    const first = await iterator.next();
    return (async function* (): AsyncGenerator<Uint8Array> {
      if (first.done !== true) yield first.value;
      yield* { [Symbol.asyncIterator]: () => iterator };
    })();
  } catch {
    return undefined;
  }
}

function isSame(left: MessageAction, right: MessageAction): boolean {
  if (left.kind !== right.kind || left.kind === "edit") return false;
  if (left.kind !== "gate" || right.kind !== "gate") return true;
  return left.member === right.member;
}

/** Decodes a JSON string; empty for anything else. */
function stringIn(json: string): string {
  return stringOr(tryParse(json)) ?? "";
}
