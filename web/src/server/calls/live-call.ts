/**
 * A call of this process. From its first question on it is stored, so that another process can make it again.
 * @module
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { SluiceError } from "../../errors/error.js";
import { onAbort } from "../../core/abort.js";
import { Claim } from "../../planner/claim.js";
import type { ToolContext } from "../../tools/context.js";
import { fits, type LoggedEvent } from "../sessions/event-log.js";
import { toFailedEvent, type Told } from "../sessions/session-work.js";
import { sessionOver } from "../session.js";
import { MAX_OPEN, newPause, tooMany, type OpenPause, type PauseQuestion } from "../sources/pauses.js";
import type { ServedSources } from "../sources/served-sources.js";
import { EventWriter } from "../work/event-writer.js";
import { isLast, type KeptWork, type KeptWorkDeps } from "../work/kept-work.js";
import type { HeldWork } from "../work/work-keeper.js";
import type { WorkPlace } from "../work/work-place.js";
import { LEASE_SECONDS } from "../work/work-register.js";

/** What is stored of a call. */
export const CALL_RECORD = z.object({
  name: z.string(),
  args: z.record(z.string(), z.unknown()),
  trace: z.string().nullable(),
  timeout_seconds: z.number().nullable(),
  asked: z.array(z.object({ pause: z.string(), print: z.string() })),
});

/** A call as it was asked for, and its questions in their order: the id of each, and a hash of what it is. */
export type CallRecord = z.infer<typeof CALL_RECORD>;

/** What calls that are kept work with. */
export interface LiveCallDeps extends Pick<KeptWorkDeps, "state" | "report"> {
  /** Where they are kept. */
  readonly calls: Pick<KeptWork<CallRecord>, "begin" | "end">;
  readonly sources: Pick<ServedSources, "pauses">;
  /** Aborted when streams end that clients can come back to. */
  readonly streamsEnd: AbortSignal;
}

/** Most questions of a call that are kept. Further ones are asked again if the call is. */
const MAX_ASKED = 256;

/** One call, for as long as this process makes it. */
export class LiveCall {
  readonly place: WorkPlace;
  readonly #deps: LiveCallDeps;
  readonly #record: CallRecord;
  readonly #claim: Claim;
  readonly #writer: EventWriter<LoggedEvent>;
  readonly #left = new AbortController();
  /** Questions that were asked in this process: the same one asked twice is two questions. */
  readonly #used = new Set<string>();
  readonly #toClient: (event: Told) => void;
  #kept: Promise<void> | undefined;
  #held: HeldWork | undefined;
  #open = 0;

  /** `toClient`: the client whose request it is, if it is here. */
  constructor(
    place: WorkPlace,
    record: CallRecord,
    deps: LiveCallDeps,
    toClient: (event: Told) => void = () => undefined,
  ) {
    const { state, report } = deps;
    this.place = place;
    this.#record = record;
    this.#deps = deps;
    this.#toClient = toClient;
    this.#claim = new Claim(state.runs, place.token, LEASE_SECONDS);
    const append = (event: LoggedEvent): Promise<string> =>
      state.events.append(place.channel, isLast(event.kind) && !fits(event) ? TOO_LARGE : event);
    this.#writer = new EventWriter(append, report);
  }

  /** Whether it is stored. */
  get isKept(): boolean {
    return this.#held !== undefined;
  }

  /** Aborted when another process has the call. */
  get lost(): AbortSignal {
    return this.#claim.lost;
  }

  /** Aborted when the server closes while the call waits for a person: another process waits on. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /** Takes over a call that is stored. Returns false if another process has it. Throws SluiceError E_STORE_…. */
  async takeOver(held: HeldWork): Promise<boolean> {
    if (!(await this.#claim.take())) return false;
    this.#held = held;
    this.#kept ??= Promise.resolve();
    return true;
  }

  /** Tells the client, and those who follow the call. */
  readonly tell = (event: Told): void => {
    this.#toClient(event);
    if (this.isKept) this.#writer.tell(event);
  };

  /** Asks a person, once for each question, however often the call is made. */
  pauseBy(signal: AbortSignal): NonNullable<ToolContext["pause"]> {
    return async (reason, payload) => {
      if (this.#open >= MAX_OPEN) throw tooMany();
      this.#open += 1;
      try {
        await (this.#kept ??= this.#keep());
        const question = { reason, payload };
        const pause = await this.#openQuestion(question);
        if (!pause.isAnswered) this.tell({ kind: "paused", pause: pause.id, call: this.place.id, ...question } as Told);
        const answer = await this.#waitForAnswer(pause, signal);
        // A process that was stopped meanwhile may have been taken for dead: the answer is for the one that went on.
        await this.confirm();
        return answer;
      } finally {
        this.#open -= 1;
      }
    };
  }

  /** Throws SluiceError E_NOT_FOUND if another process has the call. */
  async confirm(): Promise<void> {
    if (this.isKept) await this.#claim.confirm();
  }

  /** The error for the client of a call that is lost. */
  async explainLoss(): Promise<SluiceError> {
    const isOver = (await this.#deps.state.sessions.find(this.place.session).catch(() => undefined)) === null;
    return isOver ? sessionOver() : toMovedError();
  }

  /** Writes the last event, and deletes the call. Does not throw. */
  async end(last: LoggedEvent): Promise<void> {
    if (this.#held === undefined) return;
    await this.#claim.end();
    try {
      await this.#writer.write(last);
    } catch (error) {
      this.#deps.report(error);
      return this.#held.leave();
    }
    await this.#deps.calls.end(this.place, this.#held);
  }

  /** Leaves the call to other processes, at once where this one still has it. Does not throw. */
  async leave(): Promise<void> {
    if (this.#held === undefined) return;
    await this.#claim.end();
    await this.#writer.settled();
    if (this.lost.aborted) return this.#held.leave();
    await this.#claim.giveBack().catch(this.#deps.report);
    await this.#held.free();
  }

  /** Stores the call, before a person is asked. */
  async #keep(): Promise<void> {
    const held = await this.#deps.calls.begin(this.place, this.#record);
    try {
      if (!(await this.takeOver(held))) throw this.#claim.lose();
    } catch (error) {
      held.leave();
      throw error;
    }
  }

  /** A question of before by its old id, if it is the same and was not asked here yet. Else a new one. */
  async #openQuestion(question: PauseQuestion): Promise<OpenPause & { readonly isAnswered: boolean }> {
    const { pauses } = this.#deps.sources;
    const { session } = this.place;
    const { asked } = this.#record;
    const print = hashQuestion(question);
    const known = asked.find((each) => each.print === print && !this.#used.has(each.pause));
    const pause = known?.pause ?? newPause();
    if (known === undefined) {
      if (asked.length >= MAX_ASKED) return { ...(await pauses.open(session, question)), isAnswered: false };
      asked.push({ pause, print });
    }
    this.#used.add(pause);
    if (known === undefined) await this.#claim.save(this.#record);
    return pauses.keep(session, question, pause);
  }

  async #waitForAnswer(pause: OpenPause, signal: AbortSignal): Promise<unknown> {
    const { streamsEnd } = this.#deps;
    const leave = (): void => this.#left.abort(closing());
    const stop = onAbort(streamsEnd, leave);
    if (streamsEnd.aborted) leave();
    try {
      return await pause.answer(signal);
    } finally {
      stop();
    }
  }
}

/**
 * The same for the same question, when its call is made again. Requests for consent differ each time: of them it is the
 * provider that counts.
 */
function hashQuestion({ reason, payload }: PauseQuestion): string {
  const said = payload.pause_type === "oauth" ? { oauth: payload.provider } : payload;
  return createHash("sha256")
    .update(JSON.stringify([reason, said]))
    .digest("hex");
}

/** Told to those who follow a call whose result is larger than an event may be. Its own client has it. */
const TOO_LARGE = toFailedEvent(
  "E_TOO_LARGE",
  "The call is done, and its result too large to be told here: what was stored of it is among the artifacts.",
);

function closing(): SluiceError {
  return new SluiceError("E_STORE_CLOSED", "The server is closing: follow the call with GET calls/{call}.");
}

function toMovedError(): SluiceError {
  return new SluiceError("E_NOT_FOUND", "Another process went on with the call: follow it with GET calls/{call}.");
}
