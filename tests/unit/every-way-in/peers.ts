/**
 * What speaks MCP to something as a client does, and hands over each answer as the bytes that came.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { GatedStdioTransport, type GatedStdioOptions } from "../../../web/src/node.js";
import type { FetchLike } from "../../../web/src/mcp/http/gate-fetch.js";

export type Message = Readonly<Record<string, unknown>>;

/** Somebody who asks, and is answered in bytes. */
export interface Peer extends AsyncDisposable {
  /** Sends a request under an id of its own, and gives that id with the answer. */
  ask(method: string, params: Message): Promise<Answer>;
}

/** A response as it came. */
export interface Answer {
  readonly id: unknown;
  /** Of the whole message. */
  readonly bytes: Buffer;
  /** Whether those are the bytes that came, and not what a parser left of them. */
  readonly isExact: boolean;
}

const BEGIN = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "suite", version: "1.0.0" } };

/** Greets the server, and sees its tools: only then is known which are for apps. */
export async function begin(peer: Peer & { tell(message: Message): Promise<void> }): Promise<void> {
  await peer.ask("initialize", BEGIN);
  await peer.tell({ jsonrpc: "2.0", method: "notifications/initialized" });
  await peer.ask("tools/list", {});
}

/** Numbers and names, as clients choose them. */
class Ids {
  #last = 0;

  next(): unknown {
    this.#last += 1;
    return this.#last % 3 === 0 ? `call-${this.#last}` : this.#last;
  }
}

/** Everybody who waits, by id. */
class Waiting {
  readonly #waiting = new Map<
    unknown,
    { readonly resolve: (bytes: Buffer) => void; readonly reject: (error: Error) => void }
  >();

  for(id: unknown): Promise<Buffer> {
    return new Promise((resolve, reject) => void this.#waiting.set(id, { resolve, reject }));
  }

  answered(id: unknown, bytes: Buffer): void {
    this.#waiting.get(id)?.resolve(bytes);
    this.#waiting.delete(id);
  }

  end(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

/** A command that speaks MCP in lines. */
export class LinePeer implements Peer {
  readonly #child: ChildProcess;
  readonly #waiting = new Waiting();
  readonly #ids = new Ids();
  #pieces: Buffer[] = [];
  #said = "";

  constructor(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, argv, { stdio: "pipe", env: { ...process.env, ...env } });
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#read(chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => (this.#said = `${this.#said}${chunk.toString()}`.slice(-2000)));
    this.#child.on("exit", () => this.#waiting.end(new Error(`the command ended: ${this.#said}`)));
    this.#child.stdin?.on("error", () => undefined);
  }

  async ask(method: string, params: Message): Promise<Answer> {
    const id = this.#ids.next();
    const answered = this.#waiting.for(id);
    await this.tell({ jsonrpc: "2.0", id, method, params });
    return { id, bytes: await answered, isExact: true };
  }

  async tell(message: Message): Promise<void> {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill();
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#pieces.push(chunk.subarray(from, end));
      const line = Buffer.concat(this.#pieces);
      this.#pieces = [];
      from = end + 1;
      this.#line(line);
    }
    this.#pieces.push(chunk.subarray(from));
  }

  #line(bytes: Buffer): void {
    try {
      const { id } = JSON.parse(bytes.toString()) as { id?: unknown };
      this.#waiting.answered(id, bytes);
    } catch {
      this.#waiting.end(new Error(`a line is no JSON: ${bytes.subarray(0, 200).toString()}`));
    }
  }
}

/** A client of Streamable HTTP, by any `fetch`. */
export class HttpPeer implements Peer {
  readonly #url: string;
  readonly #fetch: FetchLike;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #ids = new Ids();

  constructor(url: string, fetch: FetchLike, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url;
    this.#fetch = fetch;
    this.#headers = headers;
  }

  async ask(method: string, params: Message): Promise<Answer> {
    const id = this.#ids.next();
    const response = await this.#post({ jsonrpc: "2.0", id, method, params });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { id, bytes: isEvents(response) ? dataIn(bytes, id) : bytes, isExact: true };
  }

  async tell(message: Message): Promise<void> {
    await (await this.#post(message)).arrayBuffer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Nothing stays open.
  }

  #post(message: Message): Promise<Response> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": BEGIN.protocolVersion,
      ...this.#headers,
    };
    return this.#fetch(this.#url, { method: "POST", body: JSON.stringify(message), headers });
  }
}

function isEvents(response: Response): boolean {
  return (response.headers.get("content-type") ?? "").includes("event-stream");
}

/** The message with an id, in a stream of events each of one line. */
function dataIn(bytes: Buffer, id: unknown): Buffer {
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(10, from);
    const line = bytes.subarray(from, end < 0 ? bytes.length : end);
    from = end < 0 ? bytes.length : end + 1;
    if (line.subarray(0, 5).toString() !== "data:") continue;
    const data = line.subarray(line[5] === 32 ? 6 : 5);
    const trimmed = data.at(-1) === 13 ? data.subarray(0, -1) : data;
    // The event that begins a stream which can be resumed has none.
    if (trimmed.length === 0) continue;
    if ((JSON.parse(trimmed.toString()) as { id?: unknown }).id === id) return Buffer.from(trimmed);
  }
  throw new Error("the stream ended without an answer");
}

/** The transport of ours in place of an SDK's, without a client in front. */
export class TransportPeer implements Peer {
  readonly #transport: GatedStdioTransport;
  readonly #waiting = new Waiting();
  readonly #ids = new Ids();

  constructor(options: GatedStdioOptions) {
    this.#transport = new GatedStdioTransport(options);
    // As the SDKs do: they are members, and no events.
    Object.assign(this.#transport, {
      onmessage: (message: Message) => this.#waiting.answered(message["id"], Buffer.from(JSON.stringify(message))),
      onclose: () => this.#waiting.end(new Error("the transport was closed")),
    });
  }

  start(): Promise<void> {
    return this.#transport.start();
  }

  async ask(method: string, params: Message): Promise<Answer> {
    const id = this.#ids.next();
    const answered = this.#waiting.for(id);
    await this.tell({ jsonrpc: "2.0", id, method, params });
    return { id, bytes: await answered, isExact: false };
  }

  tell(message: Message): Promise<void> {
    return this.#transport.send(message);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#transport.close();
  }
}
