/**
 * A limit on the silence of tools, for calls that pass between a client and a server: notices for the client while a tool is silent, and
 * the result of a timeout in the place of one that never came.
 * @module
 */
import { objectOr, tryParse, stringOr } from "../jsonrpc/rpc.js";
import { shortenText } from "./artifact-reader/answer.js";
import type { ClientRequest } from "./client-request.js";
import { overAfter, timeoutResult, waitNotices, type WaitNotice } from "./wait-notices.js";

/** How long tools may be silent. */
export interface CallLimitOptions {
  /** Seconds of silence after which a call is given up. */
  readonly timeoutSeconds: number;
  /** Seconds of silence after which people are told, in rising order. */
  readonly notifyAfter: readonly number[];
  /** Called with each notice, for a log. */
  readonly onNotice: (tool: string, notice: WaitNotice) => void;
}

interface CallLimitDeps extends CallLimitOptions {
  /** Whether the server is in the middle of a message: the call may be what it answers. */
  readonly isReceiving: () => boolean;
}

/** Milliseconds until it is looked again whether a message has ended. */
const LOOK = 250;

/** Most characters of the last progress in a timeout result. */
const MAX_PROGRESS = 300;

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** The same for a tool that goes on: each notice is more progress than the one before. */
const STEP = 1e-6;

/** What is sent while a call is silent, or in the place of its answer. */
export interface FollowUp {
  /** JSON text for the client. */
  readonly toClient: string;
  /** JSON text for the server, which is told that its answer is not waited for any more: `toClient` is the answer. */
  readonly toServer?: string;
}

/** The calls of one client that are limited. */
export class CallLimits {
  readonly #deps: CallLimitDeps;
  /** Calls by the JSON text of the token that their progress has. */
  readonly #byToken = new Map<string, LimitedCall>();

  constructor(deps: CallLimitDeps) {
    this.#deps = deps;
  }

  /** Starts to watch a call of a tool. `onOver` is called when it is given up. */
  watch(request: ClientRequest, onOver: () => void): LimitedCall {
    const { progressToken: given } = objectOr(request.params["_meta"]);
    const isGiven = typeof given === "string" || typeof given === "number";
    // Several exchanges with one server have limits of their own.
    const token = JSON.stringify(isGiven ? given : `sluice-${crypto.randomUUID()}`);
    const call = new LimitedCall(request, this.#deps, {
      token,
      isTokenGiven: isGiven,
      onEnd: () => {
        if (this.#byToken.get(token) === call) this.#byToken.delete(token);
      },
      onOver,
    });
    this.#byToken.set(token, call);
    return call;
  }

  /** Takes progress that the server reports. False if the client did not ask for it. */
  noteProgress(message: string): boolean {
    const { params } = objectOr(tryParse(message));
    const { progressToken, ...progress } = objectOr(params);
    const call = this.#byToken.get(JSON.stringify(progressToken ?? null));
    call?.progressed(progress);
    return call === undefined || call.isTokenGiven;
  }
}

interface LimitedCallDeps {
  readonly token: string;
  readonly isTokenGiven: boolean;
  readonly onEnd: () => void;
  readonly onOver: () => void;
}

/** One call, and what follows it until it is answered. */
export class LimitedCall implements AsyncIterable<FollowUp> {
  /** The JSON text of the token of its progress. */
  readonly token: string;
  /** Whether the client chose the token, and so wants to know of progress. */
  readonly isTokenGiven: boolean;
  readonly #request: ClientRequest;
  readonly #limits: CallLimitDeps;
  readonly #deps: LimitedCallDeps;
  readonly #notices: readonly WaitNotice[];
  readonly #messages: FollowUp[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #since = performance.now();
  /** How many notices were given since the last sign of life. */
  #given = 0;
  #progress = 0;
  #lastProgress: string | null = null;
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(request: ClientRequest, limits: CallLimitDeps, deps: LimitedCallDeps) {
    this.#request = request;
    this.#limits = limits;
    this.#deps = deps;
    this.token = deps.token;
    this.isTokenGiven = deps.isTokenGiven;
    const { notifyAfter, timeoutSeconds } = limits;
    this.#notices = [...waitNotices(notifyAfter, timeoutSeconds), overAfter(timeoutSeconds)];
    this.#arm();
  }

  /** The server has reported progress: the silence begins again. */
  progressed({ progress, total, message }: Readonly<Record<string, unknown>>): void {
    if (this.#isOver) return;
    if (typeof progress === "number") this.#progress = progress;
    const said = shortenText(
      (stringOr(message) ?? "").slice(0, 2 * MAX_PROGRESS).replace(HIDDEN, ""),
      MAX_PROGRESS,
    ).trim();
    const counted = typeof total === "number" ? `${this.#progress}/${total}` : String(this.#progress);
    this.#lastProgress = said === "" ? counted : said;
    this.#since = performance.now();
    this.#given = 0;
    this.#arm();
  }

  /** It was answered, or is not wanted any more. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#deps.onEnd();
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FollowUp> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) yield message;
      else if (this.#isOver) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #arm(wait?: number): void {
    clearTimeout(this.#timer);
    const next = this.#notices[this.#given];
    if (next === undefined) return;
    const left = next.after_s * 1000 - (performance.now() - this.#since);
    this.#timer = setTimeout(() => this.#fire(next), wait ?? Math.max(0, left));
    // A proxy whose client and server are gone ends.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #fire(notice: WaitNotice): void {
    if (this.#limits.isReceiving()) return this.#arm(LOOK);
    this.#given += 1;
    this.#limits.onNotice(stringOr(this.#request.params["name"]) ?? "", notice);
    if (!notice.is_over) this.#messages.push({ toClient: this.#toMessage(notice) });
    if (notice.is_over) {
      this.#messages.push({ toClient: this.#result(), toServer: writeCancellation(this.#request) });
      this.#deps.onOver();
      this.end();
      return;
    }
    this.#wake?.();
    this.#arm();
  }

  /** A notice as progress, where the client asked for it, else as a message for its log. */
  #toMessage({ message }: WaitNotice): string {
    if (!this.isTokenGiven) {
      const params = { level: "warning", logger: "sluice", data: message };
      return JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params });
    }
    const params = {
      progressToken: JSON.parse(this.token) as unknown,
      progress: this.#progress + this.#given * STEP,
      message,
    };
    return JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params });
  }

  #result(): string {
    const { id, isModern } = this.#request;
    const value = timeoutResult(this.#limits.timeoutSeconds, this.#lastProgress);
    const content = [{ type: "text", text: JSON.stringify(value) }];
    const result = { ...(isModern && { resultType: "complete" }), content, structuredContent: value, isError: true };
    return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`;
  }
}

/** What a server is told of a call that was given up. */
function writeCancellation({ id }: ClientRequest): string {
  const reason = JSON.stringify("It was silent for too long.");
  return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":${reason}}}`;
}
