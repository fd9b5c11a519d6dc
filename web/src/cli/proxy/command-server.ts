/**
 * A server that is a command, with requests to it coming over HTTP.
 * @module
 */
import { elementsOf, requestOf } from "../../mcp/client-request.js";
import type { Doorway } from "../../mcp/doorway.js";
import { jsonResponse } from "../../mcp/exchange.js";
import { errorMessage, idKey, RpcCode } from "../../mcp/rpc.js";
import { passServerLines } from "../../mcp/lines.js";
import { LineWriter } from "../../transports/line-writer.js";
import { MessageMembers } from "../../transports/members.js";
import type { ServerProcess } from "../../transports/server-process.js";
import type { Terminal } from "../terminal.js";
import { EventStream, type MessagePieces } from "./event-stream.js";
import { refusal } from "./listen-http.js";
import { IdSwap, MappedIds } from "./mapped-ids.js";
import { lossy, startServer } from "./stdio.js";
import { MessageLane, oneLine, type AnswerTaker } from "./message-lane.js";
import { Postbox, PostExchange } from "./postbox.js";

interface CommandServerTerms {
  readonly command: readonly string[];
  readonly door: Doorway;
  readonly terminal: Terminal;
  /** Its whole environment; that of this process where left out. */
  readonly env?: NodeJS.ProcessEnv;
  /** Whether several clients share it, none of which knows of the others' ids. */
  readonly isShared: boolean;
}

/** One POST, read. */
export interface Post {
  readonly body: Uint8Array;
  readonly acceptsEvents: boolean;
  /** Whether it lacks what requests since 2026-07-28 have to say of themselves. */
  readonly lacksEnvelope: boolean;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
}

const TOO_LARGE =
  "The server's answer is too large to be passed on while other calls are under way: call the tool alone.";

/** A process, and who waits for it. */
export class CommandServer {
  /** Settles when the process has ended and everybody was told. */
  readonly ended: Promise<void>;
  /** When it was last spoken to, in milliseconds. */
  lastUsed: number = Date.now();
  readonly #process: ServerProcess;
  readonly #door: Doorway;
  readonly #errors: LineWriter;
  readonly #ids: MappedIds | undefined;
  readonly #posts = new Postbox();

  private constructor(process: ServerProcess, { door, terminal, isShared }: CommandServerTerms) {
    this.#process = process;
    this.#door = door;
    this.#ids = isShared ? new MappedIds() : undefined;
    this.#errors = new LineWriter(lossy(terminal.errors));
    this.ended = this.#read();
  }

  /** Throws E_MISUSE when the command cannot be started. */
  static async start(terms: CommandServerTerms): Promise<CommandServer> {
    return new CommandServer((await startServer(terms.command, terms.terminal, terms.env)).server, terms);
  }

  /** Whether nobody waits for anything. */
  get isIdle(): boolean {
    return this.#posts.isEmpty;
  }

  /** What the server's lists told of a tool. */
  get tool(): Doorway["tool"] {
    return (name) => this.#door.tool(name);
  }

  /** Passes a message on, and gives what it is answered with. */
  async post(post: Post): Promise<Response> {
    this.lastUsed = Date.now();
    const elements = elementsOf(post.body);
    const { body, keys } = this.#ids === undefined ? plain(post.body, elements) : this.#mapped(this.#ids, post.body);
    if (keys.length === 0) {
      await this.#pass(body);
      return new Response(null, { status: 202 });
    }
    if (keys.some((key) => this.#posts.has(key))) return taken(keys);
    const exchange = new PostExchange({
      ids: keys,
      isBatch: elements !== undefined,
      hasStatus: this.#ids !== undefined,
      lacksEnvelope: post.lacksEnvelope,
      acceptsEvents: post.acceptsEvents,
      headers: post.headers,
      onEnd: (left) => this.#ended(exchange, left),
    });
    this.#posts.add(keys, exchange, tokenIn(body));
    const gone = (): void => exchange.end();
    post.signal.addEventListener("abort", gone, { once: true });
    if (post.signal.aborted) gone();
    // Neither is waited for: what a client does not read must not keep its response from it.
    void this.#posts.flush();
    this.#pass(body).catch(() => this.#fail(keys, "The request could not be passed on."));
    return exchange.response;
  }

  /** A message that is too large is not passed on. */
  async refuse(message: MessageMembers): Promise<Response> {
    const { toClient, toServer } = this.#door.refuse(message);
    if (toServer !== undefined) await this.#send(new TextEncoder().encode(toServer));
    return toClient === undefined ? new Response(null, { status: 202 }) : jsonResponse(toClient);
  }

  /** The stream of what belongs to no request. One that was open before is ended. */
  stream(headers: Record<string, string>): Response {
    this.lastUsed = Date.now();
    const stream = new EventStream(() => this.#posts.close(stream));
    this.#posts.open(stream);
    return stream.response(headers);
  }

  /** Ends the process; who waits is told. */
  async stop(): Promise<void> {
    this.#process.endInput();
    await this.#process.stop();
    await this.ended;
  }

  #mapped(ids: MappedIds, body: Uint8Array): { readonly body: Uint8Array; readonly keys: readonly string[] } {
    const request = requestOf(body);
    const text = new TextDecoder().decode(body);
    if (request === undefined) return { body: ids.notification(text), keys: [] };
    const mapped = ids.request(text);
    return { body: mapped.bytes, keys: [mapped.key] };
  }

  async #pass(body: Uint8Array): Promise<void> {
    const { forward, answers } = await this.#door.fromClient(body);
    for (const answer of answers) {
      void answer.then((text) => this.#route(new TextEncoder().encode(text))).catch(() => undefined);
    }
    if (forward !== undefined) await this.#send(forward);
  }

  async #send(message: Uint8Array): Promise<void> {
    await this.#process.write(oneLine(message, true));
  }

  async #read(): Promise<void> {
    const client = new MessageLane({
      take: (message) => this.#route(message),
      begin: (about, isLast) => this.#begin(about, isLast),
      tooLarge: (id) => this.#fail([id], TOO_LARGE),
    });
    const sides = {
      client,
      stray: this.#errors.lane(),
      reply: (text: string) => void this.#send(new TextEncoder().encode(text)),
    };
    try {
      await passServerLines(this.#process.output, this.#door, sides);
      await this.#process.ended;
    } catch {
      await this.#process.stop();
    }
    client.drop();
    await this.#fail(this.#posts.keys, "The server ended before it answered.");
    this.#posts.end();
  }

  async #fail(keys: readonly string[], sentence: string): Promise<void> {
    for (const key of keys) {
      this.#door.forget(key);
      await this.#route(new TextEncoder().encode(errorMessage(key, RpcCode.serverError, sentence)));
    }
  }

  /** Who takes an answer as it comes. */
  async #begin(about: MessageMembers, isLast: boolean): Promise<AnswerTaker | undefined> {
    if (!about.isObject || !about.isResponse || about.text("method") !== undefined) return undefined;
    const key = idKey(about.text("id"));
    // One whose id comes behind it is held for as long as it can be: what it turns out to be is then known.
    if (key === undefined && (!isLast || about.member("id") !== undefined)) return undefined;
    const pieces = await this.#posts.begin(key);
    return pieces === undefined ? undefined : this.#takerOf(pieces);
  }

  #takerOf(pieces: MessagePieces): AnswerTaker {
    const swap = this.#ids === undefined ? undefined : new IdSwap((key) => this.#ids?.own(key));
    return {
      write: async (bytes, about) => {
        for (const piece of swap?.pieces(bytes, about) ?? [bytes]) await pieces.write(piece);
      },
      end: (about) => {
        pieces.end();
        const key = idKey(about.text("id"));
        if (key !== undefined) this.#posts.answered(key);
      },
      fail: () => pieces.fail(),
    };
  }

  /** Sends a message to whom it belongs. */
  async #route(message: Uint8Array): Promise<void> {
    const { bytes, key } = this.#ids?.back(message) ?? { bytes: message, key: undefined };
    const members = new MessageMembers();
    members.push(message);
    if (members.isObject && members.text("method") !== undefined) {
      await this.#posts.message(bytes, {
        method: members.text("method") ?? "",
        key,
        isShared: this.#ids !== undefined,
      });
      return;
    }
    const answered = members.isObject ? [idKey(members.text("id"))] : (elementsOf(message) ?? []).map(idIn);
    await this.#posts.answer(
      answered.filter((id) => id !== undefined),
      bytes,
    );
  }

  #ended(exchange: PostExchange, left: readonly string[]): void {
    this.lastUsed = Date.now();
    this.#posts.remove(exchange);
    if (this.#ids === undefined) return;
    // Since 2026-07-28 a client that hangs up no longer wants the answer.
    for (const key of left) {
      this.#door.forget(key);
      const params = `{"requestId":${key},"reason":"the client has gone"}`;
      void this.#send(
        new TextEncoder().encode(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`),
      );
    }
    for (const key of exchange.ids) this.#ids.close(key);
  }
}

function plain(
  body: Uint8Array,
  elements: readonly Uint8Array[] | undefined,
): { readonly body: Uint8Array; readonly keys: readonly string[] } {
  const keys = (elements ?? [body]).map((element) => requestOf(element)?.key);
  return { body, keys: keys.filter((key) => key !== undefined) };
}

function idIn(element: Uint8Array): string | undefined {
  const members = new MessageMembers();
  members.push(element);
  return members.text("method") === undefined ? idKey(members.text("id")) : undefined;
}

/** The progress token of a request, in one spelling. */
function tokenIn(body: Uint8Array): string | undefined {
  const { _meta } = requestOf(body)?.params ?? {};
  const { progressToken } = (_meta ?? {}) as { progressToken?: unknown };
  return progressToken === undefined ? undefined : JSON.stringify(progressToken);
}

function taken([id]: readonly string[]): Response {
  const sentence = "A request with this id is not answered yet: give each its own.";
  return refusal(id, 400, RpcCode.invalidRequest, sentence);
}
