/**
 * Questions of an MCP server to a person (MCP, "Elicitation"): who is asked, what is shown, and the answer.
 * @module
 */
import { specTypeSchemas, type ElicitResult } from "@modelcontextprotocol/client";
import { onAbort, untilAborted, untilEither } from "../../../core/abort.js";
import { shortened } from "../../../mcp/artifact-reader/answer.js";
import { subjectOf, ToolNodeError, type ToolPlace } from "../../errors.js";
import { isSafe } from "../../addresses.js";
import type { PausePayload, PauseReason } from "../../options.js";
import type { JsonSchema, SourceCall } from "../../source.js";

/** Maximum number of questions of one call. */
export const MAX_ASKED: number = 20;

/** Asks the person behind one call, through its host. */
export class Asker {
  readonly #call: SourceCall;
  readonly #place: ToolPlace;
  readonly #end = new AbortController();
  readonly #over = new AbortController();
  readonly #forget: () => void;
  #asked = 0;

  constructor(call: SourceCall, source: string) {
    this.#call = call;
    this.#place = { source, tool: call.tool };
    const { signal } = call;
    const end = (): void => this.#end.abort(signal.reason);
    this.#forget = onAbort(signal, end);
    if (signal.aborted) end();
  }

  /** Aborted when the caller cancels, or asking fails. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Ends the call. Open and later questions are declined. */
  release(): void {
    this.#forget();
    this.#over.abort();
  }

  /** Whether the host can ask. */
  get canAsk(): boolean {
    return this.#call.pause !== undefined;
  }

  /** Identifies the person. */
  get owner(): string {
    const { tenant_id = null, user_id = null } = this.#call.scope;
    return JSON.stringify([tenant_id, user_id]);
  }

  /**
   * Asks the question in the parameters of `elicitation/create`. Declines questions that cannot be asked.
   *
   * @param takenBack aborted when the server withdraws the question.
   * @throws what the host's `pause` throws; a ToolNodeError for an invalid answer; the reason of the call's signal.
   */
  async answer(params: unknown, takenBack?: AbortSignal): Promise<ElicitResult> {
    const { pause, unhurried = (work) => work() } = this.#call;
    const isOver = this.signal.aborted || this.#over.signal.aborted || this.#asked >= MAX_ASKED;
    const question = pause === undefined || isOver ? undefined : questionOf(params, this.#place);
    if (question === undefined || pause === undefined) return DECLINED;
    this.#asked += 1;
    const { reason, payload } = question;
    const answered = async (): Promise<ElicitResult> => {
      const given = await untilAborted(pause(reason, payload), this.signal);
      return answerTo(question, given, this.#place);
    };
    try {
      return await unhurried(async () => declinedOn([this.#over.signal, takenBack], answered()));
    } catch (error) {
      this.#end.abort(error);
      throw error;
    }
  }
}

/** Declines when one of the signals is aborted: the question was withdrawn, or the call is over. */
function declinedOn(
  ends: readonly (AbortSignal | undefined)[],
  answered: Promise<ElicitResult>,
): Promise<ElicitResult> {
  return untilEither(ends, async (end) => {
    const declined = new Promise<ElicitResult>((resolve) => {
      const decline = (): void => resolve(DECLINED);
      if (end.aborted) decline();
      else onAbort(end, decline);
    });
    return Promise.race([declined, answered]);
  });
}

/** A task that is followed. */
interface Followed {
  readonly asker: Asker;
  /** Cancels the task at the server. */
  readonly cancel: () => Promise<void>;
}

/** The calls under way, to find out who to ask. */
export class Calls {
  readonly #askers = new Set<Asker>();
  readonly #tasks = new Map<string, Followed>();

  /** Runs a call. Afterwards nobody is asked for it. */
  async during<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    this.#askers.add(asker);
    try {
      return await work();
    } finally {
      this.#askers.delete(asker);
      asker.release();
    }
  }

  /** Registers a task of a call. Call the returned function to remove it. */
  follow(taskId: string, followed: Followed): () => void {
    this.#tasks.set(taskId, followed);
    return () => void this.#tasks.delete(taskId);
  }

  /** Who to ask for a task. */
  askerOf(taskId: unknown): Asker | undefined {
    return typeof taskId === "string" ? this.#tasks.get(taskId)?.asker : undefined;
  }

  /**
   * Who to ask if the server names no call: the only one who can be asked. Nobody if calls of several people are
   * under way, since one would see another's question.
   */
  get only(): Asker | undefined {
    const all = [...this.#askers];
    if (new Set(all.map(({ owner }) => owner)).size !== 1) return undefined;
    const able = all.filter(({ canAsk }) => canAsk);
    return able.length === 1 ? able[0] : undefined;
  }

  /** Cancels all tasks. */
  async cancel(): Promise<void> {
    await Promise.all([...this.#tasks.values()].map(({ cancel }) => cancel()));
  }
}

/** A question for the host. */
interface Question {
  readonly reason: PauseReason;
  readonly payload: PausePayload;
  /** The fields of a form. Undefined for a page to open. */
  readonly fields: readonly string[] | undefined;
}

/** The answer if nobody is asked, or the person declines. */
export const DECLINED: ElicitResult = { action: "decline" };

/** Maximum characters of a text. */
const MAX_TEXT = 4000;

/** Maximum characters of a form's schema, and of its answer, as JSON. */
const MAX_JSON = 65_536;

/** Maximum depth of a schema. MCP's forms are flatter. */
const MAX_DEPTH = 8;

/** Invisible characters, except joiners, line breaks and tabs. */
const HIDDEN = /(?!\u200c|\u200d|\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Keywords whose values are part of the answer. They are shown unchanged, or the form is declined. */
const DATA: ReadonlySet<string> = new Set(["enum", "const", "default", "required"]);

/** Removes invisible characters and shortens a server's text to 4,000 characters. */
export function shown(text: string): string {
  // The text may be megabytes long, so most of it is not inspected.
  return shortened(text.slice(0, 2 * MAX_TEXT).replaceAll(HIDDEN, ""), MAX_TEXT);
}

/** Reads the parameters of `elicitation/create`. Undefined if the question must not be shown. */
export function questionOf(params: unknown, { source, tool = "" }: ToolPlace): Question | undefined {
  const read = specTypeSchemas.ElicitRequestParams["~standard"].validate(params);
  if (read instanceof Promise || read.issues !== undefined) return undefined;
  const { value } = read;
  const about = { message: shown(value.message), source: shown(source), tool: shown(tool) };
  if (value.mode === "url") {
    const { url } = value;
    if (url.length > MAX_TEXT || !URL.canParse(url) || !isSafe(new URL(url))) return undefined;
    const payload = { pause_type: "url" as const, url: new URL(url).href, ...about };
    return { reason: "external_event", payload, fields: undefined };
  }
  const { type, properties, required } = value.requestedSchema;
  const asked = { type, properties, ...(required !== undefined && { required }) };
  if (JSON.stringify(asked).length > MAX_JSON) return undefined;
  const schema = tidied(asked) as JsonSchema | undefined;
  if (schema === undefined) return undefined;
  const payload = { pause_type: "elicitation" as const, schema, ...about };
  return { reason: "await_input", payload, fields: Object.keys(properties) };
}

/**
 * Converts a host's answer. Keeps only the fields that were asked for.
 *
 * @throws ToolNodeError for an invalid answer.
 */
export function answerTo({ fields }: Question, given: unknown, place: ToolPlace): ElicitResult {
  if (given === null) return DECLINED;
  if (fields === undefined) return { action: "accept" };
  if (given === undefined) return DECLINED;
  if (typeof given !== "object" || Array.isArray(given)) throw noAnswer(place);
  const said = new Map(Object.entries(given));
  const content = Object.fromEntries(
    fields.filter((field) => said.has(field)).map((field) => [field, said.get(field)]),
  );
  const read = specTypeSchemas.ElicitResult["~standard"].validate({ action: "accept", content });
  if (read instanceof Promise || read.issues !== undefined) throw noAnswer(place);
  if (JSON.stringify(content).length > MAX_JSON) throw noAnswer(place);
  return read.value;
}

function noAnswer(place: ToolPlace): ToolNodeError {
  const remedy = `return an object of its fields (strings, numbers, booleans, lists of strings) with at most ${MAX_JSON} characters`;
  return new ToolNodeError(`pause returned an invalid answer to a question of ${subjectOf(place)}: ${remedy}.`, {
    category: "non_retryable",
  });
}

/** A schema with cleaned titles and descriptions. Undefined if values that are part of the answer would change. */
function tidied(value: unknown, isData = false, depth = 0): unknown {
  if (typeof value === "string") return isData && shown(value) !== value ? undefined : shown(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return undefined;
  if (Array.isArray(value)) {
    const parts = value.map((part) => tidied(part, isData, depth + 1));
    return parts.includes(undefined) ? undefined : parts;
  }
  const entries: [string, unknown][] = [];
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue;
    const fit = tidied(part, isData || DATA.has(key), depth + 1);
    if (fit === undefined || shown(key) !== key || key === "__proto__") return undefined;
    entries.push([key, fit]);
  }
  return Object.fromEntries(entries);
}
