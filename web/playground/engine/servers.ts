/**
 * The servers that a person chose, and what they tell.
 * @module
 */
import { SluiceError, type SluiceConfig } from "mcp-sluice";
import type { OAuthManager, ToolNode, ToolNodeEvent } from "mcp-sluice/tools";
import { DEMO_URL, demoFetch } from "../demo/serve.js";
import { Connection, type ConnectionTerms } from "./connection.js";
import type { EngineEvent, Outcome, ServerAddress, ShownServer } from "./contract.js";
import { lineOf } from "./log-line.js";
import { Pauses } from "./pauses.js";
import { problemOf } from "./problem.js";
import type { Session } from "./session.js";
import { VISITOR } from "./stores.js";

/** A source of a planner. */
export interface PlannedSource {
  readonly server: string;
  /** Whether its tools work with My Files. */
  readonly userFiles: boolean;
  readonly node: ToolNode;
}

/** All connections, by the servers' names. */
export class Servers {
  /** Calls that wait for a person. */
  readonly pauses: Pauses;
  /** Where a provider sends people back to. */
  callback = "";
  readonly #session: Session;
  readonly #tell: (event: EngineEvent) => void;
  readonly #connections = new Map<string, Connection>();
  /** Those whose tools are known. */
  readonly #ready = new Set<Connection>();
  #manager: Promise<OAuthManager> | undefined;

  constructor(session: Session, tell: (event: EngineEvent) => void) {
    this.#session = session;
    this.#tell = tell;
    this.pauses = new Pauses(
      (pause) => tell({ kind: "paused", pause }),
      (pause) => tell({ kind: "resumed", pause }),
    );
  }

  /** Connects; a server of the same name is left before. */
  async connect(address: ServerAddress): Promise<Outcome<null>> {
    const { name } = address;
    await this.#leave(name);
    const connection = new Connection(address, this.#terms());
    this.#connections.set(name, connection);
    this.#say(connection, { status: "connecting" });
    try {
      await connection.open();
      this.#ready.add(connection);
      this.#say(connection, { status: "ready", tools: await connection.tools() });
      return { ok: true, value: null };
    } catch (error) {
      const problem = problemOf(error);
      this.#say(connection, { status: "failed", problem });
      return { ok: false, problem };
    }
  }

  /** Leaves a server, whether it answers or not. */
  async disconnect(server: string): Promise<void> {
    if (await this.#leave(server)) this.#tell({ kind: "gone", server });
  }

  /** Leaves all of them. */
  async disconnectAll(): Promise<void> {
    await Promise.all([...this.#connections.keys()].map((server) => this.disconnect(server)));
  }

  /** The connection of a server. Throws E_NOT_FOUND. */
  get(server: string): Connection {
    const connection = this.#connections.get(server);
    if (connection === undefined) throw new SluiceError("E_NOT_FOUND", `${server} is not connected: connect it first.`);
    return connection;
  }

  /** The sources of a planner, in whose answers a model sees what this configuration lets it see. One that is away is left out. */
  async planned(config: SluiceConfig): Promise<readonly PlannedSource[]> {
    const nodes = [...this.#ready].map(async (connection) => {
      try {
        const { name: server, userFiles = false } = connection.address;
        return [{ server, userFiles, node: await connection.planned(config) }];
      } catch (error) {
        const text = `Its tools are left out of the chat: ${problemOf(error).message}`;
        this.#tell({ kind: "log", level: "warn", server: connection.address.name, text });
        return [];
      }
    });
    return (await Promise.all(nodes)).flat();
  }

  /** Goes on with the calls that waited for a provider, which sent a person back to this address. */
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

  #terms(): ConnectionTerms {
    const { store, scope } = this.#session;
    return {
      store,
      scope,
      manager: () => this.#oauth(),
      callback: this.callback,
      pauses: this.pauses,
      demo: async (which) => {
        if (which === "") return { url: DEMO_URL, fetch: demoFetch() };
        return (await import("../demo/user-files/serve.js")).fileDemo();
      },
      myFiles: () => this.#session.myFiles(),
      onEvent: (connection, event) => this.#heard(connection, event),
    };
  }

  #oauth(): Promise<OAuthManager> {
    this.#manager ??= import("./oauth.js").then(({ OAuthManager }) => new OAuthManager({ providers: {} }));
    return this.#manager;
  }

  #heard(connection: Connection, event: ToolNodeEvent): void {
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
        this.#tell({ kind: "log", server, ...lineOf(event) });
    }
  }

  /** How a server is, unless it was left meanwhile. */
  #say(connection: Connection, now: Pick<ShownServer, "status"> & Partial<ShownServer>): void {
    const { name, kind, userFiles = false } = connection.address;
    if (this.#connections.get(name) !== connection) return;
    this.#tell({ kind: "server", server: { name, kind, userFiles, tools: [], ...now } });
  }
}
