/**
 * Tools of MCP servers that run as processes of their own (Node).
 * @module
 */
import type { ArtifactScope } from "../../artifacts/store.js";
import { SluiceError } from "../../errors/error.js";
import { stdioThrough, type GatedStdioTransport } from "../../mcp/gated-stdio.js";
import { adaptError } from "../adapt-error.js";
import type { OpenOptions, SourceConnection, ToolSource } from "../source.js";
import { connectionLost } from "./mcp/requests.js";
import { connected, type McpEra, type McpTerms, type OpenedTransport } from "./mcp/connection.js";
import type { ToolDoor } from "./mcp/tool-door.js";
import { endAtOnce, killTree } from "./process-tree.js";

/**
 * How long, in milliseconds, a process may be silent when it is asked for the later era; then it is taken for one that
 * knows the earlier alone. One that only takes long to start answers both.
 */
const PROBE_TIMEOUT: number = 5000;

/** What a source of an MCP server as a process is made of. */
export interface McpStdioTerms extends McpTerms {
  /** The program and its arguments; it is started without a shell. */
  readonly argv: readonly [command: string, ...args: string[]];
  /** The command for whoever a connection is opened for; left out: `argv` for all. */
  readonly command?: (argv: readonly string[], scope: ArtifactScope) => Promise<readonly string[]>;
  /** Variables beside the few that are safe to hand on: PATH, HOME, and such. */
  readonly env?: Readonly<Record<string, string>>;
  /** Its working directory. */
  readonly cwd?: string;
  /** Given what it writes to standard error, which is untrusted; left out, that is thrown away. */
  readonly onErrorOutput?: (chunk: Uint8Array) => void;
}

/** A way to an MCP server as a process: each opening starts one, which ends with its connection. */
export function mcpStdioSource(terms: McpStdioTerms): ToolSource {
  return new StdioSource(terms);
}

class StdioSource implements ToolSource {
  readonly #terms: McpStdioTerms;
  #era: McpEra;

  constructor(terms: McpStdioTerms) {
    this.#terms = terms;
    this.#era = terms.era ?? "auto";
  }

  async open(options: OpenOptions): Promise<SourceConnection> {
    const { argv, command } = this.#terms;
    const own = command === undefined ? argv : await command(argv, options.scope ?? {});
    const terms = { ...this.#terms, argv: own };
    const first = new Starting(terms);
    try {
      return await first.connected(options, this.#era);
    } catch (error) {
      if (this.#era !== "auto" || !first.hasEnded) throw error;
      options.signal.throwIfAborted();
    }
    // Some servers of the earlier era end when they are asked anything before `initialize`.
    const connection = await new Starting(terms).connected(options, "legacy");
    this.#era = "legacy";
    return connection;
  }
}

type StartingTerms = Omit<McpStdioTerms, "argv"> & { readonly argv: readonly string[] };

/** One process on its way to being connected. */
class Starting {
  readonly #terms: StartingTerms;
  #failure: Error | undefined;
  #hasEnded = false;
  #isConnected = false;

  constructor(terms: StartingTerms) {
    this.#terms = terms;
  }

  /** Whether it went by itself. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async connected(options: OpenOptions, era: McpEra): Promise<SourceConnection> {
    const over = (door: ToolDoor): OpenedTransport => {
      const transport = this.#transport(door);
      const kill = async (): Promise<void> => void (transport.pid === null || (await killTree(transport.pid)));
      return { transport, kill, reason: () => this.#failure };
    };
    const connection = await connected({
      terms: this.#terms,
      options,
      era,
      probeTimeout: PROBE_TIMEOUT,
      transport: over,
    });
    this.#isConnected = true;
    return connection;
  }

  #transport(door: ToolDoor): GatedStdioTransport {
    const { argv, env, cwd, onErrorOutput } = this.#terms;
    const [command = "", ...args] = argv;
    const transport = stdioThrough(
      {
        command,
        args,
        stderr: onErrorOutput === undefined ? "ignore" : "pipe",
        ...(env !== undefined && { env }),
        ...(cwd !== undefined && { cwd }),
      },
      async () => door,
    );
    const start = transport.start.bind(transport);
    transport.start = async () => {
      try {
        await start();
      } catch (error) {
        throw (this.#failure = this.#notStarted(error));
      }
      // At once: a server whose errors nobody reads stands still.
      if (onErrorOutput !== undefined) transport.stderr?.on("data", onErrorOutput);
    };
    const send = transport.send.bind(transport);
    // What is written to a process that has gone is lost without a word.
    transport.send = (message) => (this.#hasEnded ? Promise.reject(connectionLost(this.#terms.name)) : send(message));
    const close = transport.close.bind(transport);
    let isClosing = false;
    transport.close = () => {
      isClosing = true;
      // The next attempt has to wait for its end, since two at a time may want the same files; it need not wait for what is
      // granted to a program that works.
      if (!this.#isConnected) endAtOnce(transport.pid);
      return close();
    };
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has none
    transport.onclose = () => {
      if (isClosing) return;
      this.#hasEnded = true;
      this.#failure ??= connectionLost(this.#terms.name);
    };
    return transport;
  }

  /** Why it could not be started: what the system says is beneath our own error. */
  #notStarted(error: unknown): Error {
    const beneath = error instanceof SluiceError ? (error.cause ?? error) : error;
    return adaptError(beneath, { source: this.#terms.name });
  }
}
