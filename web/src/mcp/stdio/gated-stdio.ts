/**
 * A stdio transport for MCP clients with an interceptor in it (Node).
 * @module
 */
import { decodePieces } from "../../jsonrpc/bytes.js";
import { MAX_MESSAGE } from "../../jsonrpc/limits.js";
import { withNewline, type LineSink } from "../../jsonrpc/lines.js";
import { ServerProcess } from "./server-process.js";
import { SluiceError } from "../../errors/error.js";
import { scanMembers } from "../client-request.js";
import type { Interceptor } from "../interceptor-interface.js";
import { createInterceptor, INTERCEPTOR_OPTIONS, type InterceptorOptions } from "../interceptor-options.js";
import { passServerLines } from "./lines.js";
import { checkOptionNames } from "../../errors/arguments.js";

/** Options for {@link GatedStdioTransport}. */
export interface GatedStdioOptions extends InterceptorOptions {
  /** The program. It is started without a shell. */
  readonly command: string;
  /** Its arguments. */
  readonly args?: readonly string[];
  /** Environment variables in addition to the few that are safe to pass on, such as PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its working directory. */
  readonly cwd?: string;
  /**
   * Where its standard error goes.
   * @defaultValue `"inherit"`
   */
  readonly stderr?: "inherit" | "pipe" | "ignore";
}

/** A server's standard error: Node's readable stream, typed without Node's types. */
interface ServerErrors extends AsyncIterable<Uint8Array> {
  /** Calls `listener` with each chunk. */
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
}

/** Variables that a server inherits: those that the SDKs pass on. */
const INHERITED =
  process.platform === "win32"
    ? [
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "USERNAME",
        "USERPROFILE",
      ]
    : ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/** Bytes of a non-protocol line that are reported. */
const MAX_STRAY = 4096;

/** Milliseconds that a server has to end after its input is closed. */
const GRACE = 2000;

let useInterceptor: (transport: GatedStdioTransport, open: () => Promise<Interceptor>) => void;

/** Creates a transport with your own interceptor. Of the options, only those that start the server are used. */
export function stdioThrough(
  options: Omit<GatedStdioOptions, keyof InterceptorOptions>,
  open: () => Promise<Interceptor>,
): GatedStdioTransport {
  const transport = new GatedStdioTransport(options);
  useInterceptor(transport, open);
  return transport;
}

/**
 * Replaces an SDK's `StdioClientTransport`: results of any size arrive, reduced, with their bytes stored. Works with
 * the clients of SDK v1 and v2.
 *
 * @example
 * const transport = new GatedStdioTransport({ command: "npx", args: ["-y", "some-server"], store, namespace: "some" });
 * await client.connect(transport);
 */
export class GatedStdioTransport {
  /** Called once when the connection is closed, for whatever reason. */
  onclose?: () => void;
  /** Called for errors outside of calls. */
  onerror?: (error: Error) => void;
  /** Called for each message, parsed. */
  // The SDKs set it to a function of any kind of message that they know.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  onmessage?: <Message>(message: Message) => void;
  readonly #options: GatedStdioOptions;
  #open: () => Promise<Interceptor>;
  #server: ServerProcess | undefined;
  #interceptor: Interceptor | undefined;
  #closed: Promise<void> | undefined;
  /** Messages are sent one after the other, so that only one waits for the stream to drain. */
  #sent: Promise<void> = Promise.resolve();
  #isStarted = false;
  #isClosed = false;
  /** Ends waiting and reports that the connection is closed, once. */
  #finish: () => void = () => undefined;
  #isFinished = false;
  readonly #finished: Promise<void> = new Promise((resolve) => {
    this.#finish = () => {
      this.#finish = () => undefined;
      this.#isFinished = true;
      resolve();
      this.onclose?.();
    };
  });

  static {
    useInterceptor = (transport: GatedStdioTransport, open: () => Promise<Interceptor>): void => {
      transport.#open = open;
    };
  }

  constructor(options: GatedStdioOptions) {
    const own = ["args", "command", "cwd", "env", "stderr"] as const;
    this.#options = checkOptionNames(options, "a GatedStdioTransport", [...own, ...INTERCEPTOR_OPTIONS]);
    this.#open = () => createInterceptor(options);
  }

  /** The server's process id while it runs. */
  get pid(): number | null {
    return this.#server?.pid ?? null;
  }

  /** The server's standard error, if `stderr` is `pipe`. */
  get stderr(): ServerErrors | null {
    return this.#server?.stderr ?? null;
  }

  /** Starts the server. Throws E_MISUSE if it cannot be started or was started before; E_CORE_LOAD, E_CONFIG_…. */
  async start(): Promise<void> {
    if (this.#isStarted) throw new SluiceError("E_MISUSE", "This transport was already started: create another one.");
    this.#isStarted = true;
    const { command, args = [], env, cwd, stderr = "inherit" } = this.#options;
    this.#interceptor = await this.#open();
    const server = await ServerProcess.start(command, {
      args,
      env: { ...listInherited(), ...env },
      stderr,
      reusesMemory: true,
      ...(cwd !== undefined && { cwd }),
    });
    this.#server = server;
    this.#closed = this.#read(server, this.#interceptor);
    if (this.#isClosed) await this.close();
  }

  /** Sends a message. Answers of the interceptor arrive at `onmessage`. Throws E_MISUSE before `start`. */
  async send(message: unknown): Promise<void> {
    const { interceptor, server } = this.#running();
    const bytes = new TextEncoder().encode(JSON.stringify(message));
    if (bytes.length > MAX_MESSAGE) return this.#refuse(bytes);
    const { forward, answers } = await interceptor.fromClient(bytes);
    for (const answer of answers) void answer.then((text) => text !== undefined && this.#deliver(text));
    if (forward === undefined) return;
    this.#sent = this.#sent.then(() => server.write(withNewline(forward)));
    await this.#sent;
  }

  /** Closes the server's input, and ends the server if it does not end by itself. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const server = this.#server;
    if (server === undefined) return;
    server.endInput();
    const timer = setTimeout(() => void server.stop(), GRACE);
    // A store that hangs must not keep `close` waiting.
    const patience = setTimeout(() => this.#finish(), 3 * GRACE);
    await Promise.race([this.#closed, this.#finished]);
    clearTimeout(timer);
    clearTimeout(patience);
  }

  async #read(server: ServerProcess, interceptor: Interceptor): Promise<void> {
    // A client that learns that a message broke off may retry at once, so it is told when nothing more can be sent
    // here.
    const last: string[] = [];
    let isOver = false;
    const client = messageSink((text) => (isOver ? void last.push(text) : this.#deliver(text)));
    const output = untilEnd(server.output, () => (isOver = true));
    const nonProtocol = messageSink(
      (text) => this.#tell(new Error(`The server wrote a line that is not a message: ${text}`)),
      MAX_STRAY,
    );
    try {
      const sides = { client, nonProtocol, reply: (text: string): void => void this.#reply(text) };
      await passServerLines(output, interceptor, sides, () => this.#isClosed && (server.hasEnded || this.#isFinished));
      await server.ended;
    } catch (error) {
      this.#tell(error as Error);
      await server.stop();
    }
    last.push(...interceptor.abandon("The server ended before it answered."));
    for (const answer of last) this.#deliver(answer);
    this.#finish();
  }

  async #reply(text: string): Promise<void> {
    const { server } = this.#running();
    await server.write(new TextEncoder().encode(`${text}\n`));
  }

  async #refuse(bytes: Uint8Array): Promise<void> {
    const { toClient, toServer } = this.#running().interceptor.refuse(scanMembers([bytes]));
    if (toClient !== undefined) this.#deliver(toClient);
    if (toServer !== undefined) await this.#reply(toServer);
  }

  #deliver(text: string): void {
    try {
      this.onmessage?.(JSON.parse(text) as unknown);
    } catch (error) {
      this.#tell(error as Error);
    }
  }

  #tell(error: Error): void {
    try {
      this.onerror?.(error);
    } catch {
      // An error handler that throws is not called with its own error.
    }
  }

  #running(): { readonly interceptor: Interceptor; readonly server: ServerProcess } {
    if (this.#interceptor === undefined || this.#server === undefined) {
      throw new SluiceError("E_MISUSE", "This transport is not started: call start, or connect a client to it.");
    }
    return { interceptor: this.#interceptor, server: this.#server };
  }
}

async function* untilEnd(bytes: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* bytes;
  onEnd();
}

/** Collects a message and passes it on as text. */
function messageSink(take: (text: string) => void, most = Infinity): LineSink {
  let pieces: Uint8Array[] = [];
  let size = 0;
  return {
    forward: async (bytes) => {
      if (size < most) pieces.push(bytes.subarray(0, most - size));
      size += bytes.length;
    },
    complete: async () => {
      if (pieces.length === 0) return;
      const text = decodePieces(pieces);
      pieces = [];
      size = 0;
      take(text);
    },
  };
}

/** The variables of this process that a server inherits. */
export function listInherited(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = process.env[name];
      // Shells export functions as variables, which no server needs.
      return value === undefined || value.startsWith("()") ? [] : [[name, value]];
    }),
  );
}
