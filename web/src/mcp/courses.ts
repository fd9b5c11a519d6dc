/**
 * Which messages of a server are gated, which are edited, and which are left alone (design §6).
 * @module
 */
import type { Transformed, TransformOptions } from "../core/sluice.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import type { MessageMembers } from "../transports/members.js";
import type { Course, Judge } from "../transports/passage.js";
import type { Catalog } from "./catalog.js";
import type { InFlight, Request } from "./in-flight.js";
import { tooLargeForClient } from "./too-large.js";

/** Rewrites the answer to a request: gets and gives the message's JSON text; undefined leaves it as it is. */
export type AnswerEdit = (message: string) => string | undefined | Promise<string | undefined>;

/** What courses are chosen by. */
export interface CourseTerms {
  readonly inFlight: InFlight;
  readonly catalog: Catalog;
  /** Options of a tool's results; without a tool those of anything else. */
  readonly options: (tool: string | undefined) => TransformOptions;
  /** What is written behind a reduced result, if anything is. */
  readonly complete: () => ((reduced: Transformed) => string) | undefined;
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
      if (id !== undefined || isWhole) return this.#answer(this.#terms.inFlight.find(id));
      return this.#anyAnswer(isUrgent) ?? (isUrgent ? this.#lateAnswer(message) : undefined);
    }
    const method = message.text("method");
    if (method !== undefined) return this.#unasked(stringIn(method), isWhole, isUrgent);
    if (isWhole) return PASS;
    if (message.member("params") !== undefined) return isUrgent ? this.#lateUnasked(message) : undefined;
    const request = this.#terms.inFlight.find(id);
    return request === undefined ? undefined : this.#answer(request);
  }

  /**
   * The one course of all answers that are waited for; undefined when they differ. What would not be gated is decided
   * about only when it can be held no longer: the answer may be another's, or nobody's.
   */
  #anyAnswer(isUrgent: boolean): Course | undefined {
    let only: Course | undefined;
    for (const request of this.#terms.inFlight.entries().values()) {
      const course = this.#answer(request);
      if (only !== undefined && !isSame(only, course)) return undefined;
      only ??= course;
    }
    if (only !== undefined && only.kind !== "gate" && !isUrgent) return undefined;
    return only ?? this.#gate("result", undefined);
  }

  /**
   * Requests of a server's are refused where they are too large: what a client does with a reference nobody knows. Before
   * that they are held, since a result may still follow.
   */
  #unasked(method: string, isWhole: boolean, isUrgent: boolean): Course | undefined {
    if (TASK_NOTIFICATIONS.has(method)) return this.#gate("params.result", undefined);
    if (isWhole || method.startsWith(NOTIFICATIONS)) return PASS;
    return isUrgent ? WHOLE : undefined;
  }

  /** A result that is too large to wait for its id, where not all answers would be treated alike. */
  #lateAnswer(message: MessageMembers): Course {
    const { inFlight, options } = this.#terms;
    const links = this.#terms.complete();
    const complete = (reduced: Transformed): string => {
      const request = inFlight.find(message.text("id"));
      const course = this.#answer(request);
      if (course.kind === "edit") throw tooLargeForClient();
      return (course.kind === "gate" ? links?.(reduced) : undefined) ?? reduced.text;
    };
    return { kind: "gate", member: "result", options: options(undefined), complete };
  }

  /** Parameters that are too large to wait for the method. */
  #lateUnasked(message: MessageMembers): Course {
    const complete = (reduced: Transformed): string => {
      const method = message.text("method");
      if (method !== undefined && !stringIn(method).startsWith(NOTIFICATIONS)) throw tooLargeForClient();
      return reduced.text;
    };
    return { kind: "gate", member: "params", options: this.fallback, complete };
  }

  #answer(request: Request | undefined): Course {
    const { catalog, edit } = this.#terms;
    // Clients differ in what they take for the id of a call: what is nobody's answer is treated like one.
    if (request === undefined) return this.#gate("result", undefined);
    switch (request.method) {
      case "tools/call":
      case "tasks/result":
        return catalog.isAppOnly(request.tool) ? RAW : this.#gate("result", request.tool);
      case "tasks/get":
        return catalog.isAppOnly(request.tool) ? RAW : this.#gate("result.result", request.tool);
      case "resources/read":
        return request.uri?.startsWith("ui://") === true ? RAW : PASS;
      default: {
        const edited = edit(request);
        if (edited !== undefined) return { kind: "edit", edit: edited };
        return request.method.endsWith("/list") || UNREDUCED.has(request.method) ? WHOLE : PASS;
      }
    }
  }

  #gate(member: string, tool: string | undefined): Course {
    const complete = this.#terms.complete();
    return { kind: "gate", member, options: this.#terms.options(tool), ...(complete !== undefined && { complete }) };
  }
}

function isSame(left: Course, right: Course): boolean {
  if (left.kind !== right.kind || left.kind === "edit") return false;
  if (left.kind !== "gate" || right.kind !== "gate") return true;
  return left.member === right.member && left.options.tool === right.options.tool;
}

/** What a JSON string says; empty for what is none. */
function stringIn(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return "";
  }
}
