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

const PASS: Course = { kind: "pass" };
const RAW: Course = { kind: "raw" };

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
    if (message.member("result") !== undefined) {
      if (id !== undefined || isWhole) return this.#answer(this.#terms.inFlight.find(id));
      return this.#anyAnswer(message.size > MAX_MESSAGE);
    }
    const method = message.text("method");
    if (method !== undefined || message.member("params") !== undefined) return this.#unasked(method, isWhole);
    if (isWhole) return PASS;
    const request = this.#terms.inFlight.find(id);
    return request === undefined ? undefined : this.#answer(request);
  }

  /**
   * The one course of all answers that are waited for; undefined when they differ. What may go on as it came does so only
   * when it can be held no longer: the answer may be another's.
   */
  #anyAnswer(isUrgent: boolean): Course | undefined {
    let only: Course | undefined;
    for (const request of this.#terms.inFlight.entries().values()) {
      const course = this.#answer(request);
      if (only !== undefined && !isSame(only, course)) return undefined;
      only ??= course;
    }
    if (only?.kind === "raw" && !isUrgent) return undefined;
    return only ?? this.#gate("result", undefined);
  }

  #unasked(method: string | undefined, isWhole: boolean): Course | undefined {
    if (method === undefined) return isWhole ? PASS : undefined;
    return TASK_NOTIFICATIONS.has(stringIn(method)) ? this.#gate("params.result", undefined) : PASS;
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
        return edited === undefined ? PASS : { kind: "edit", edit: edited };
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
