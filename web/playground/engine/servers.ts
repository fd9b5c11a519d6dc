/**
 * The connected servers and their events.
 * @module
 */
import { type SluiceConfig, SluiceError } from "mcp-sluice";
import type { OAuthManager, ToolNode, ToolNodeEvent } from "mcp-sluice/tools";
import { DEMO_URL } from "../demo/example.js";
import type { Health } from "./health.js";
import { Connection, type ConnectionDeps, logLine } from "./connection.js";
import type { CallRequest, EngineEvent, Outcome, ServerAddress, ShownProgress, ShownServer } from "./messages.js";
import { Pauses } from "./pauses.js";
import { describeProblem } from "./outcome.js";
import type { Session } from "./session.js";
import { VISITOR } from "./stores.js";

/** A source for a planner. */
interface PlannedSource {
  readonly server: string;
  /** Whether its tools work with My Files. */
  readonly userFiles: boolean;
  readonly node: ToolNode;
}

/** The connections, by server name. */
export class Servers {
  /** Calls that wait for a person. */
  readonly pauses: Pauses;
  /** The redirect URI for OAuth providers. */
  callback = "";
  readonly #session: Session;
  readonly #tell: (event: EngineEvent) => void;
  readonly #connections = new Map<string, Connection>();
  /** Connections that were not opened yet. */
  readonly #introduced = new WeakSet<Connection>();
  /** Connections whose tools are known. */
  readonly #ready = new Set<Connection>();
  #health: Promise<Health> | undefined;
  /** A view shows messages, so that new ones are reported. */
  isWatched = false;
  #report: ReturnType<typeof setTimeout> | undefined;
  #manager: Promise<OAuthManager> | undefined;

  constructor(session: Session, tell: (event: EngineEvent) => void) {
    this.#session = session;
    this.#tell = tell;
    this.pauses = new Pauses(
      (pause) => tell({ kind: "paused", pause }),
      (pause) => tell({ kind: "resumed", pause }),
    );
  }

  /** Lists a server, which is connected later. */
  introduce(address: ServerAddress): Connection {
    const connection = new Connection(address, this.#deps());
    this.#connections.set(address.name, connection);
    this.#introduced.add(connection);
    this.#say(connection, { status: "connecting" });
    return connection;
  }

  /** Connects a server and disconnects the one with the same name, unless that was only introduced. */
  async connect(address: ServerAddress): Promise<Outcome<null>> {
    const { name } = address;
    const listed = this.#connections.get(name);
    if (listed === undefined || !this.#introduced.has(listed)) await this.#leave(name);
    const connection = this.#connections.get(name) ?? this.introduce(address);
    this.#introduced.delete(connection);
    try {
      await connection.open();
      this.#ready.add(connection);
      this.#say(connection, { status: "ready", tools: await connection.tools() });
      return { ok: true, value: null };
    } catch (error) {
      const { withAddress } = await import("./health.js");
      const problem = withAddress(describeProblem(error), address);
      this.#say(connection, { status: "failed", problem });
      return { ok: false, problem };
    }
  }

  /** All connections. */
  all(): readonly Connection[] {
    return [...this.#connections.values()];
  }

  /** Calls a tool, and notes when its server no longer answers or answers again. */
  async call(
    connection: Connection,
    request: CallRequest,
    signal: AbortSignal,
    tell: (progress: ShownProgress) => void,
  ): ReturnType<Connection["call"]> {
    try {
      const result = await connection.call(request, signal, tell);
      await (await this.#health)?.answered(connection);
      return result;
    } catch (error) {
      const isGone = error instanceof SluiceError && error.code === "E_TOOL_CONNECTION" && !signal.aborted;
      if (isGone) await (await this.health()).fell(connection, error);
      throw error;
    }
  }

  /** Which servers died. */
  health(): Promise<Health> {
    this.#health ??= import("./health.js").then(
      ({ Health }) => new Health({ ready: this.#ready, say: (connection, now) => this.#say(connection, now) }),
    );
    return this.#health;
  }

  /** Disconnects a server, whether it answers or not. */
  async disconnect(server: string): Promise<void> {
    if (await this.#leave(server)) this.#tell({ kind: "gone", server });
  }

  /** Disconnects all servers. */
  async disconnectAll(): Promise<void> {
    await Promise.all([...this.#connections.keys()].map((server) => this.disconnect(server)));
    // The tokens of sign-ins end with the session.
    this.#manager = undefined;
  }

  /** The connection of a server. Throws E_NOT_FOUND. */
  get(server: string): Connection {
    const connection = this.#connections.get(server);
    if (connection === undefined) throw new SluiceError("E_NOT_FOUND", `${server} is not connected: connect it first.`);
    return connection;
  }

  /** The sources for a planner under a configuration. Leaves out servers that do not answer. */
  async planned(config: SluiceConfig): Promise<readonly PlannedSource[]> {
    const nodes = [...this.#ready].map(async (connection) => {
      try {
        const { name: server, userFiles = false } = connection.address;
        return [{ server, userFiles, node: await connection.planned(config) }];
      } catch (error) {
        const text = `Its tools are left out of the chat: ${describeProblem(error).message}`;
        this.#tell({ kind: "log", level: "warn", server: connection.address.name, text });
        return [];
      }
    });
    return (await Promise.all(nodes)).flat();
  }

  /** Completes a sign-in with the URL that the provider redirected to, and resumes the calls that wait for it. */
  async signedIn(address: URL): Promise<void> {
    try {
      const manager = await this.#oauth();
      await manager.handleCallback(address, { user: VISITOR.user_id });
      this.pauses.consented(address);
    } catch (error) {
      this.pauses.consented(address, error);
      throw error;
    }
  }

  async #leave(server: string): Promise<boolean> {
    const connection = this.#connections.get(server);
    if (connection === undefined) return false;
    this.#connections.delete(server);
    this.#ready.delete(connection);
    await connection[Symbol.asyncDispose]();
    return true;
  }

  #deps(): ConnectionDeps {
    const { store, scope } = this.#session;
    return {
      store,
      scope,
      manager: () => this.#oauth(),
      callback: this.callback,
      pauses: this.pauses,
      demo: async (which) => {
        if (which === "") return { url: DEMO_URL, fetch: (await import("../demo/server.js")).demoFetch() };
        return (await import("../demo/user-files.js")).fileDemo();
      },
      myFiles: () => this.#session.myFiles(),
      onEvent: (connection, event) => this.#onEvent(connection, event),
      onMessage: () => this.#reportRecorded(),
    };
  }

  #oauth(): Promise<OAuthManager> {
    this.#manager ??= import("./oauth.js").then(({ OAuthManager }) => new OAuthManager({ providers: {} }));
    return this.#manager;
  }

  #onEvent(connection: Connection, event: ToolNodeEvent): void {
    const server = connection.address.name;
    switch (event.kind) {
      case "resource": {
        const { event: resource } = event;
        if (resource.kind === "updated") this.#tell({ kind: "resource_updated", server, uri: resource.uri });
        else this.#tell({ kind: "resources_changed", server });
        return;
      }
      case "tools_changed":
        connection
          .tools()
          .then((tools) => this.#say(connection, { status: "ready", tools }))
          .catch(() => undefined);
        return;
      default:
        if (event.kind === "left_alone" || event.kind === "recovered") void this.#reportTurn(connection, event.kind);
        this.#tell({ kind: "log", server, ...logLine(event) });
    }
  }

  async #reportTurn(connection: Connection, how: "left_alone" | "recovered"): Promise<void> {
    const health = await this.health();
    await (how === "recovered" ? health.answered(connection) : health.fell(connection, undefined));
  }

  /** Reports new messages, at most four times a second. */
  #reportRecorded(): void {
    if (!this.isWatched) return;
    if (this.#report !== undefined) return;
    this.#report = setTimeout(() => {
      this.#report = undefined;
      this.#tell({ kind: "exchanged" });
    }, 250);
  }

  /** Reports the state of a server, unless it was disconnected meanwhile. */
  #say(connection: Connection, now: Pick<ShownServer, "status"> & Partial<ShownServer>): void {
    const { name, kind, userFiles = false } = connection.address;
    if (this.#connections.get(name) !== connection) return;
    const signsIn = connection.signsIn && { signsIn: true };
    this.#tell({ kind: "server", server: { name, kind, userFiles, tools: [], ...signsIn, ...now } });
  }
}
