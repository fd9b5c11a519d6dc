/**
 * The connections of an HTTP server, what is under way on them, and their end within a limit.
 * @module
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What a connection may be busy with. A `stream` is an event stream; a `call` is one that ends with its result. */
const KINDS = ["request", "upload", "download", "call", "stream"] as const;

/** One of them. */
type WorkKind = (typeof KINDS)[number];

/** How much of each kind is under way. */
export type OpenWork = Readonly<Record<WorkKind, number>>;

/** Milliseconds between two searches for idle connections at the end. */
const LOOK = 50;

/** Milliseconds before the limit in which what is given up can still be told so. */
const LAST_WORDS = 500;

/** Most pipelined requests that wait on one connection. No browser sends two. */
const MOST_WAITING = 16;

/** How connections are closed. */
interface Closing {
  /** Milliseconds for what is under way. */
  readonly grace: number;
  /** Told what is waited for. Must not throw. */
  readonly onWaiting?: ((open: OpenWork) => void) | undefined;
  /** Tells what has not finished that it is given up. Must not throw. */
  readonly giveUp?: (() => void) | undefined;
}

/** Tracks the requests of each connection. Node treats a connection as busy that was opened and never used. */
export class Connections {
  readonly #open = new Map<Socket, Map<ServerResponse, IncomingMessage>>();
  /** What the answers are that have begun. */
  readonly #answers = new WeakMap<ServerResponse, WorkKind>();

  /** Adds a connection. */
  add(socket: Socket): void {
    const answers = new Map<ServerResponse, IncomingMessage>();
    this.#open.set(socket, answers);
    socket.once("close", () => {
      this.#open.delete(socket);
      for (const answer of answers.keys()) dropAnswer(answer);
    });
  }

  /**
   * Adds a request until its answer is closed. Returns false if the connection is closed, or was closed now for too many
   * requests.
   */
  enter(request: IncomingMessage, answer: ServerResponse): boolean {
    const { socket } = request;
    const answers = this.#open.get(socket);
    if (answers === undefined || socket.destroyed) return false;
    if (answers.size >= MOST_WAITING) {
      socket.destroy();
      return false;
    }
    answers.set(answer, request);
    answer.once("close", () => answers.delete(answer));
    return true;
  }

  /** Says what kind of answer has begun. */
  answering(request: IncomingMessage, answer: ServerResponse, isEvents: boolean): void {
    this.#answers.set(answer, !isEvents ? "download" : isStanding(request) ? "stream" : "call");
  }

  /** What is under way. */
  work(): OpenWork {
    const open = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<WorkKind, number>;
    for (const answers of this.#open.values()) {
      for (const [answer, request] of answers) open[this.#answers.get(answer) ?? detectKind(request)] += 1;
    }
    return open;
  }

  /** Closes idle connections. */
  endIdle(): void {
    for (const [socket, answers] of this.#open) if (answers.size === 0) socket.destroy();
  }

  /** Takes no more connections, and waits for what is under way. Gives what did not finish in time, which is ended. */
  async close(server: Server, { grace, onWaiting, giveUp }: Closing): Promise<OpenWork> {
    const closed = new Promise<true>((resolve) => server.close(() => resolve(true)));
    const until = performance.now() + grace;
    const wait = async (end: number): Promise<boolean> => {
      while (performance.now() < end) {
        this.endIdle();
        if (await Promise.race([closed, sleep(LOOK, false)])) return true;
        onWaiting?.(this.work());
      }
      return false;
    };
    if (await wait(until - (giveUp === undefined ? 0 : Math.min(LAST_WORDS, grace / 2)))) return NOTHING;
    const left = this.work();
    giveUp?.();
    if (await wait(until)) return left;
    server.closeAllConnections();
    await closed;
    return left;
  }
}

const NOTHING: OpenWork = { request: 0, upload: 0, download: 0, call: 0, stream: 0 };

/** An event stream that lasts until its client leaves. Others end with the result that they were asked for. */
export function isStanding({ method }: Pick<IncomingMessage, "method">): boolean {
  return method === "GET";
}

/** What is under way where no answer has begun. */
function detectKind({ headers, complete }: IncomingMessage): WorkKind {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return hasBody && !complete ? "upload" : "request";
}

/** Names what is under way, as in `2 downloads and 1 upload`. Empty if there is nothing. */
export function workSentence(open: OpenWork): string {
  const said = KINDS.filter((kind) => open[kind] > 0).map((kind) => {
    const name = kind === "stream" ? "event stream" : kind === "call" ? "streamed call" : kind;
    return `${open[kind]} ${name}${open[kind] === 1 ? "" : "s"}`;
  });
  const last = said.pop() ?? "";
  return said.length === 0 ? last : `${said.join(", ")} and ${last}`;
}

/** Milliseconds between two sentences about what is waited for. */
const SAID = 1000;

/** Tells what is waited for: when a second has passed, and then when it changes, once a second at most. */
export function onceASecond(tell: (sentence: string) => void): (open: OpenWork) => void {
  let [at, last] = [performance.now(), ""];
  return (open) => {
    const now = performance.now();
    const sentence = workSentence(open);
    if (now - at < SAID || sentence === last || sentence === "") return;
    [at, last] = [now, sentence];
    tell(sentence);
  };
}

/**
 * Closes an answer. When a connection is gone Node closes only the answer whose turn it was; those behind it would
 * wait for ever.
 */
function dropAnswer(answer: ServerResponse): void {
  if (answer.closed) return;
  answer.destroy();
  answer.emit("close");
}
