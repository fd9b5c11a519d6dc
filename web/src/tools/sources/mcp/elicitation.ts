/**
 * What a server asks of a person (MCP, "Elicitation"): who is asked, what is fit to be shown, and what the person answers.
 * @module
 */
import { specTypeSchemas, type ElicitResult } from "@modelcontextprotocol/client";
import { onAbort, untilAborted, untilEither } from "../../../core/abort.js";
import { shortened } from "../../../mcp/reading/answer.js";
import { subjectOf, type ToolPlace } from "../../adapting/place.js";
import { isSafe } from "../../auth/addresses.js";
import type { PauseReason } from "../../context.js";
import { ToolNodeError } from "../../errors.js";
import type { SourceCall } from "../../source.js";

/** Questions that one call may ask, all in all. */
export const MAX_ASKED: number = 20;

/** Asks, as far as the call's host can. */
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

  /** Ends the call: when its caller gives it up, and with what asking a person fails with. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** The call is over: nobody is asked for it any more, and what was asked is declined. */
  release(): void {
    this.#forget();
    this.#over.abort();
  }

  /** Whether anybody can be asked. */
  get canAsk(): boolean {
    return this.#call.pause !== undefined;
  }

  /** Whose call it is: two of the same are of one person. */
  get owner(): string {
    const { tenant_id = null, user_id = null } = this.#call.scope;
    return JSON.stringify([tenant_id, user_id]);
  }

  /**
   * Asks what stands in the parameters of `elicitation/create`; what nobody may or can be asked is declined.
   *
   * @param takenBack aborted when the server wants to know it no longer.
   * @throws what the host's `pause` throws; a ToolNodeError for what it gives that is no answer; the reason of the call's
   * signal.
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

/** Nobody reads the answer to a question that was taken back, or whose call is over; neither is a failure of the call's. */
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

/** A task that goes on. */
interface Followed {
  readonly asker: Asker;
  /** Tells the server that nobody wants it any more. */
  readonly cancel: () => Promise<void>;
}

/** Keeps account of them. */
export class Calls {
  readonly #askers = new Set<Asker>();
  readonly #tasks = new Map<string, Followed>();

  /** Does a call's work; then nobody is asked for it any more. */
  async during<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    this.#askers.add(asker);
    try {
      return await work();
    } finally {
      this.#askers.delete(asker);
      asker.release();
    }
  }

  /** A task belongs to a call, until what is returned is called. */
  follow(taskId: string, followed: Followed): () => void {
    this.#tasks.set(taskId, followed);
    return () => void this.#tasks.delete(taskId);
  }

  /** Who is asked what is asked for a task. */
  askerOf(taskId: unknown): Asker | undefined {
    return typeof taskId === "string" ? this.#tasks.get(taskId)?.asker : undefined;
  }

  /**
   * Who is asked where the server does not say for which call: whoever alone can be. Where calls of several people are under
   * way it is nobody, since one would be shown what is another's.
   */
  get only(): Asker | undefined {
    const all = [...this.#askers];
    if (new Set(all.map(({ owner }) => owner)).size !== 1) return undefined;
    const able = all.filter(({ canAsk }) => canAsk);
    return able.length === 1 ? able[0] : undefined;
  }

  /** Nobody wants any of the tasks. */
  async cancel(): Promise<void> {
    await Promise.all([...this.#tasks.values()].map(({ cancel }) => cancel()));
  }
}

/** A question as a host is asked it. */
interface Question {
  readonly reason: PauseReason;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The fields of a form; undefined for a page that is to be opened. */
  readonly fields: readonly string[] | undefined;
}

/** What a server is told where nobody is asked, or the person does not want to answer. */
export const DECLINED: ElicitResult = { action: "decline" };

/** Characters of a text that is shown. */
const MAX_TEXT = 4000;

/** Characters of a form's schema, and of what is answered, as JSON. */
const MAX_JSON = 65_536;

/** Deeper than any form that MCP knows. */
const MAX_DEPTH = 8;

/** What hides in a text or moves it, but not what joins letters, nor what begins a line. */
const HIDDEN = /(?!\u200c|\u200d|\n|\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Keywords whose texts come back in the answer: they are shown as they are, or the form is not. */
const DATA: ReadonlySet<string> = new Set(["enum", "const", "default", "required"]);

/** A text of the server's without what hides in it, at most 4,000 characters long. */
export function shown(text: string): string {
  // A server's text may be megabytes long: most of it is never looked at.
  return shortened(text.slice(0, 2 * MAX_TEXT).replaceAll(HIDDEN, ""), MAX_TEXT);
}

/** The question that the parameters of `elicitation/create` put; undefined where it is none that a person may be asked. */
export function questionOf(params: unknown, { source, tool = "" }: ToolPlace): Question | undefined {
  const read = specTypeSchemas.ElicitRequestParams["~standard"].validate(params);
  if (read instanceof Promise || read.issues !== undefined) return undefined;
  const { value } = read;
  const about = { message: shown(value.message), source: shown(source), tool: shown(tool) };
  if (value.mode === "url") {
    const { url } = value;
    if (url.length > MAX_TEXT || !URL.canParse(url) || !isSafe(new URL(url))) return undefined;
    const payload = { pause_type: "url", url: new URL(url).href, ...about };
    return { reason: "external_event", payload, fields: undefined };
  }
  const { type, properties, required } = value.requestedSchema;
  const asked = { type, properties, ...(required !== undefined && { required }) };
  if (JSON.stringify(asked).length > MAX_JSON) return undefined;
  const schema = tidied(asked);
  if (schema === undefined) return undefined;
  const payload = { pause_type: "elicitation", schema, ...about };
  return { reason: "await_input", payload, fields: Object.keys(properties) };
}

/**
 * What the server is told of a host's answer: the fields that were asked for, and no others.
 *
 * @throws ToolNodeError for what is no answer.
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
  const remedy = `give an object of its fields: texts, numbers, true or false, lists of texts, ${MAX_JSON} characters in all`;
  return new ToolNodeError(`What pause gave for a question of ${subjectOf(place)} is no answer: ${remedy}.`, {
    category: "non_retryable",
  });
}

/** A schema whose titles and descriptions can be shown; undefined where what comes back cannot be shown as it is. */
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
