/**
 * Which messages of a server are gated, which are edited, and which are left alone (design §6).
 * @module
 */
import type { GatedResult, Transformed, TransformOptions } from "../core/sluice.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import type { MessageMembers } from "../transports/members.js";
import type { Course, GateAnswer, Judge } from "../transports/passage.js";
import type { Catalog } from "./catalog.js";
import type { InFlight, Request } from "./in-flight.js";
import { parsedOr, stringOr } from "./rpc.js";
import { tooLargeForClient } from "./too-large.js";

/** Rewrites the answer to a request: gets and gives the message's JSON text; undefined leaves it as it is. */
export type AnswerEdit = (message: string) => string | undefined | Promise<string | undefined>;

interface CourseTerms {
  readonly inFlight: InFlight;
  readonly catalog: Catalog;
  /** Options of a tool's results; without a tool those of anything else. */
  readonly options: (tool: string | undefined) => TransformOptions;
  /** What is written in place of a reduced result; its own text where undefined. */
  readonly links: () => ((reduced: Transformed) => string) | undefined;
  /** A reduced result as it came. */
  readonly restored: (reduced: Transformed) => AsyncIterable<Uint8Array>;
  /** The edit of the answer to a request, if it has one. */
  readonly edit: (request: Request) => AnswerEdit | undefined;
}

/** Status of a task, which may bring its result (Tasks extension, 2026-07-28). */
const TASK_NOTIFICATIONS: ReadonlySet<string> = new Set(["notifications/tasks", "notifications/tasks/status"]);

/** What the methods of all notifications begin with (MCP, all revisions). */
const NOTIFICATIONS = "notifications/";

/** Answers that are no use with references in them, beside lists. */
const UNREDUCED: ReadonlySet<string> = new Set(["completion/complete", "prompts/get"]);

const PASS: Course = { kind: "pass" };
const RAW: Course = { kind: "raw" };

/** It goes on as it came, or not at all where it is too large: what needs no edit is left alone. */
const WHOLE: Course = { kind: "edit", edit: () => undefined };

/** Decides by the request that a message answers, or that it may answer while its id has not come. */
export class Courses implements Judge {
  readonly #terms: CourseTerms;

  constructor(terms: CourseTerms) {
    this.#terms = terms;
  }

  get fallback(): TransformOptions {
    return this.#terms.options(undefined);
  }

  course(message: MessageMembers, isWhole: boolean): Course | undefined {
    const id = message.text("id");
    // It can be held no longer.
    const isUrgent = message.size > MAX_MESSAGE;
    if (message.member("result") !== undefined) {
      if (id !== undefined || isWhole) return this.#answer(this.#terms.inFlight.find(id), message);
      return this.#anyAnswer(message, isUrgent) ?? (isUrgent ? this.#gate("result", message) : undefined);
    }
    const method = message.text("method");
    if (method !== undefined) return this.#unasked(stringIn(method), message, isWhole, isUrgent);
    if (isWhole) return PASS;
    if (message.member("params") !== undefined) return isUrgent ? this.#lateUnasked(message) : undefined;
    const request = this.#terms.inFlight.find(id);
    return request === undefined ? undefined : this.#answer(request, message);
  }

  /**
   * The one course of all answers that are waited for; undefined when they differ. What would not be gated is decided
   * about only when it can be held no longer: the answer may be another's, or nobody's.
   */
  #anyAnswer(message: MessageMembers, isUrgent: boolean): Course | undefined {
    let only: Course | undefined;
    for (const request of this.#terms.inFlight.requests()) {
      const course = this.#answer(request, message);
      if (only !== undefined && !isSame(only, course)) return undefined;
      only ??= course;
    }
    if (only !== undefined && only.kind !== "gate" && !isUrgent) return undefined;
    return only ?? this.#gate("result", message);
  }

  /**
   * Requests of a server's are refused where they are too large: what a client does with a reference nobody knows. Before
   * that they are held, since a result may still follow.
   */
  #unasked(method: string, message: MessageMembers, isWhole: boolean, isUrgent: boolean): Course | undefined {
    if (TASK_NOTIFICATIONS.has(method)) return this.#gate("params.result", message);
    if (isWhole || method.startsWith(NOTIFICATIONS)) return PASS;
    return isUrgent ? WHOLE : undefined;
  }

  /** Parameters that are too large to wait for the method. */
  #lateUnasked(message: MessageMembers): Course {
    const answer = async (result: GatedResult): Promise<GateAnswer> => {
      await using gated = result;
      const method = message.text("method");
      if (method !== undefined && !stringIn(method).startsWith(NOTIFICATIONS)) throw tooLargeForClient();
      const reduced = await gated.answer();
      return { text: reduced.text, reduced };
    };
    return { kind: "gate", member: "params", options: this.fallback, answer };
  }

  #answer(request: Request | undefined, message: MessageMembers): Course {
    const { catalog, edit } = this.#terms;
    // Clients differ in what they take for the id of a call: what is nobody's answer is treated like one.
    if (request === undefined) return this.#gate("result", message);
    switch (request.method) {
      case "tools/call":
      case "tasks/result":
        return catalog.isAppOnly(request.tool) ? RAW : this.#gate("result", message);
      case "tasks/get":
        return catalog.isAppOnly(request.tool) ? RAW : this.#gate("result.result", message);
      case "resources/read":
        return request.uri?.startsWith("ui://") === true ? RAW : PASS;
      default: {
        const edited = edit(request);
        if (edited !== undefined) return { kind: "edit", edit: edited };
        return request.method.endsWith("/list") || UNREDUCED.has(request.method) ? WHOLE : PASS;
      }
    }
  }

  /** Which tool a result is of is known at the latest when the message is over, and decides how it is written. */
  #gate(member: string, message: MessageMembers): Course {
    const { inFlight, links, options, restored } = this.#terms;
    const requestNow = (): Request | undefined => inFlight.find(message.text("id"));
    const answer = async (result: GatedResult): Promise<GateAnswer> => {
      await using gated = result;
      const request = requestNow();
      const { kind } = member === "result" ? this.#answer(request, message) : { kind: "gate" };
      if (kind === "edit") throw tooLargeForClient();
      const reduced = await gated.answer(request?.tool === undefined ? {} : { tool: request.tool });
      const original = kind === "raw" && reduced.changed ? await begun(restored(reduced)) : undefined;
      if (original !== undefined) return { text: "", original };
      return { text: links()?.(reduced) ?? reduced.text, reduced };
    };
    return { kind: "gate", member, options: options(requestNow()?.tool), answer };
  }
}

/** Chunks of which the first is there; undefined where the store does not give back what is needed. */
async function begun(chunks: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array> | undefined> {
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

function isSame(left: Course, right: Course): boolean {
  if (left.kind !== right.kind || left.kind === "edit") return false;
  if (left.kind !== "gate" || right.kind !== "gate") return true;
  return left.member === right.member;
}

/** What a JSON string says; empty for what is none. */
function stringIn(json: string): string {
  return stringOr(parsedOr(json)) ?? "";
}
