/**
 * The stdio transport of MCP clients, with a door in it (Node).
 * @module
 */
import { textOf } from "../transports/bytes.js";
import { MAX_MESSAGE } from "../transports/limits.js";
import { withNewline, type LineLane } from "../transports/line-writer.js";
import { ServerProcess } from "../transports/server-process.js";
import { SluiceError } from "../errors/error.js";
import { membersOf } from "./client-request.js";
import type { Doorway } from "./doorway.js";
import { openDoor, type DoorOptions } from "./open-door.js";
import { passServerLines } from "./lines.js";

/** How the server is started, and what its door is like. */
export interface GatedStdioOptions extends DoorOptions {
  /** The program; it is started without a shell. */
  readonly command: string;
  /** Its arguments. */
  readonly args?: readonly string[];
  /** Variables beside the few that are safe to hand on: PATH, HOME, and such. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its working directory. */
  readonly cwd?: string;
  /** Where its standard error goes; `inherit` when left out. */
  readonly stderr?: "inherit" | "pipe" | "ignore";
}

/** What a server writes to standard error: Node's readable stream, in words that need no types of Node. */
export interface ServerErrors extends AsyncIterable<Uint8Array> {
  /** Calls `listener` with each chunk. */
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
}

/** Variables that a server gets unasked: those that the SDKs hand on. */
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

/** Bytes that are told of a line that is no message. */
const MAX_STRAY = 4096;

/** How long, in milliseconds, a server has to end once its input is closed. */
const GRACE = 2000;

let useDoor: (transport: GatedStdioTransport, open: () => Promise<Doorway>) => void;

/** The same transport with a door of the caller's own: of the options only what starts the server is looked at. */
export function stdioThrough(
  options: Omit<GatedStdioOptions, keyof DoorOptions>,
  open: () => Promise<Doorway>,
): GatedStdioTransport {
  const transport = new GatedStdioTransport(options);
  useDoor(transport, open);
  return transport;
}

/**
 * Takes the place of an SDK's `StdioClientTransport`: results of any size arrive, reduced, with their bytes stored. For
 * the clients of SDK v1 and v2.
 *
 * @example
 * const transport = new GatedStdioTransport({ command: "npx", args: ["-y", "some-server"], store, namespace: "some" });
 * await client.connect(transport);
 */
export class GatedStdioTransport {
  /** Called once, when the connection is closed for whatever reason. */
  onclose?: () => void;
  /** Called for what goes wrong outside of calls. */
  onerror?: (error: Error) => void;
  /** Called for each message, parsed. */
  // The SDKs set it to a function of any kind of message that they know.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  onmessage?: <Message>(message: Message) => void;
  readonly #options: GatedStdioOptions;
  #open: () => Promise<Doorway>;
  #server: ServerProcess | undefined;
  #door: Doorway | undefined;
  #closed: Promise<void> | undefined;
  /** One message after the other: all that wait for room would listen to the stream, each by itself. */
  #sent: Promise<void> = Promise.resolve();
  #isStarted = false;
  #isClosed = false;
  /** Ends waiting, and tells that the connection is closed; once. */
  #finish: () => void = () => undefined;
  readonly #finished: Promise<void> = new Promise((resolve) => {
    this.#finish = () => {
      this.#finish = () => undefined;
      resolve();
      this.onclose?.();
    };
  });

  static {
    useDoor = (transport: GatedStdioTransport, open: () => Promise<Doorway>): void => {
      transport.#open = open;
    };
  }

  constructor(options: GatedStdioOptions) {
    this.#options = options;
    this.#open = () => openDoor(options);
  }

  /** The server's process id while it runs. */
  get pid(): number | null {
    return this.#server?.pid ?? null;
  }

  /** What the server writes to standard error, where that is `pipe`. */
  get stderr(): ServerErrors | null {
    return this.#server?.stderr ?? null;
  }

  /** Starts the server. Throws E_MISUSE when it cannot be started, or was before; E_CORE_LOAD, E_CONFIG_…. */
  async start(): Promise<void> {
    if (this.#isStarted) throw new SluiceError("E_MISUSE", "This transport was started before: make another.");
    this.#isStarted = true;
    const { command, args = [], env, cwd, stderr = "inherit" } = this.#options;
    this.#door = await this.#open();
    const server = await ServerProcess.start(command, {
      args,
      env: { ...inherited(), ...env },
      stderr,
      ...(cwd !== undefined && { cwd }),
    });
    this.#server = server;
    this.#closed = this.#read(server, this.#door);
    if (this.#isClosed) await this.close();
  }

  /** Sends a message. What the door answers itself comes to `onmessage`. Throws E_MISUSE before `start`. */
  async send(message: unknown): Promise<void> {
    const { door, server } = this.#running();
    const bytes = new TextEncoder().encode(JSON.stringify(message));
    if (bytes.length > MAX_MESSAGE) return this.#refuse(bytes);
    const { forward, answers } = await door.fromClient(bytes);
    for (const answer of answers) void answer.then((text) => this.#deliver(text));
    if (forward === undefined) return;
    this.#sent = this.#sent.then(() => server.write(withNewline(forward)));
    await this.#sent;
  }

  /** Closes the server's input, and ends it if that does not. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const server = this.#server;
    if (server === undefined) return;
    server.endInput();
    const timer = setTimeout(() => void server.stop(), GRACE);
    // A store that hangs keeps a result under way, but nobody waiting.
    const patience = setTimeout(() => this.#finish(), 3 * GRACE);
    await Promise.race([this.#closed, this.#finished]);
    clearTimeout(timer);
    clearTimeout(patience);
  }

  async #read(server: ServerProcess, door: Doorway): Promise<void> {
    // Whoever hears that a message broke off may ask again at once: it is told when nothing more can be sent here.
    const last: string[] = [];
    let isOver = false;
    const client = messageLane((text) => (isOver ? void last.push(text) : this.#deliver(text)));
    const output = untilEnd(server.output, () => (isOver = true));
    const stray = messageLane(
      (text) => this.#tell(new Error(`The server wrote a line that is no message: ${text}`)),
      MAX_STRAY,
    );
    try {
      await passServerLines(output, door, { client, stray, reply: (text) => void this.#reply(text) });
      await server.ended;
    } catch (error) {
      this.#tell(error as Error);
      await server.stop();
    }
    last.push(...door.abandon("The server ended before it answered."));
    for (const answer of last) this.#deliver(answer);
    this.#finish();
  }

  async #reply(text: string): Promise<void> {
    const { server } = this.#running();
    await server.write(new TextEncoder().encode(`${text}\n`));
  }

  async #refuse(bytes: Uint8Array): Promise<void> {
    const { toClient, toServer } = this.#running().door.refuse(membersOf([bytes]));
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
      // Whoever throws at being told of an error is told of no other.
    }
  }

  #running(): { readonly door: Doorway; readonly server: ServerProcess } {
    if (this.#door === undefined || this.#server === undefined) {
      throw new SluiceError("E_MISUSE", "This transport is not started: call start, or connect a client to it.");
    }
    return { door: this.#door, server: this.#server };
  }
}

async function* untilEnd(bytes: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* bytes;
  onEnd();
}

/** Collects a message and hands it on as text. */
function messageLane(take: (text: string) => void, most = Infinity): LineLane {
  let pieces: Uint8Array[] = [];
  let size = 0;
  return {
    forward: async (bytes) => {
      if (size < most) pieces.push(bytes.subarray(0, most - size));
      size += bytes.length;
    },
    complete: async () => {
      if (pieces.length === 0) return;
      const text = textOf(pieces);
      pieces = [];
      size = 0;
      take(text);
    },
  };
}

/** The variables of this process that a server gets unasked. */
export function inherited(): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => {
      const value = process.env[name];
      // Shells export functions as variables, which no server needs.
      return value === undefined || value.startsWith("()") ? [] : [[name, value]];
    }),
  );
}
