/**
 * Everything in the playground that takes time: servers, the gate, the stores.
 * @module
 */
import { createSluice, SluiceError, type ArtifactScope, type ArtifactStore, type SluiceConfig } from "mcp-sluice";
import { endSession } from "mcp-sluice/browser";
import type { OAuthManager, ToolNodeEvent } from "mcp-sluice/tools";
import { DEMO_URL, demoFetch } from "../demo/serve.js";
import { Connection, type ConnectionTerms } from "./connection.js";
import type {
  CallRequest,
  Engine,
  EngineEvent,
  Outcome,
  ServerAddress,
  ShownFile,
  ShownReading,
  ShownResources,
  ShownResult,
  ShownSpace,
  Started,
  StartTerms,
} from "./contract.js";
import { asResult, isJson, textOf } from "./dropped.js";
import { Files } from "./files.js";
import { lineOf } from "./log-line.js";
import { original, shown, through, type Gating, type KeptResult } from "./gating.js";
import { Pauses } from "./pauses.js";
import { outcome, problemOf } from "./problem.js";
import type { Keys, Shelf } from "./shelves.js";
import { Stores, VISITOR } from "./stores.js";

/** Results that can be gated anew; those before are forgotten. */
const MAX_RESULTS = 100;

/** The one implementation. */
export class PlaygroundEngine implements Engine {
  #tell: (event: EngineEvent) => void = () => undefined;
  readonly #stores = new Stores();
  readonly #store: ArtifactStore = this.#stores.session;
  readonly #files = new Files(this.#stores.files);
  readonly #connections = new Map<string, Connection>();
  readonly #calls = new Map<string, AbortController>();
  readonly #results = new Map<string, KeptResult>();
  readonly #pauses = new Pauses(
    (pause) => this.#tell({ kind: "paused", pause }),
    (pause) => this.#tell({ kind: "resumed", pause }),
  );
  #manager: Promise<OAuthManager> | undefined;
  #keys: Keys | undefined;
  #scope: ArtifactScope = {};
  #callback = "";
  #gating: Gating | undefined;

  listen(listener: (event: EngineEvent) => void): void {
    this.#tell = listener;
  }

  async start({ keys, config, callback }: StartTerms): Promise<Outcome<Started>> {
    return outcome(async () => {
      const opened = await this.#stores.open(keys);
      this.#keys = opened.keys;
      this.#scope = opened.scope;
      this.#callback = callback;
      const configured = await this.configure(config);
      // A configuration of an earlier visit that is no longer right must not keep anybody out.
      if (!configured.ok) await this.configure({});
      return { keys: opened.keys, ...(!configured.ok && { problem: configured.problem }) };
    });
  }

  async connect(address: ServerAddress): Promise<Outcome<null>> {
    await this.disconnect(address.name);
    const connection = new Connection(address, this.#connectionTerms());
    this.#connections.set(address.name, connection);
    const { name, kind } = address;
    this.#tell({ kind: "server", server: { name, kind, status: "connecting", tools: [] } });
    try {
      await connection.open();
      this.#tell({ kind: "server", server: { name, kind, status: "ready", tools: await connection.tools() } });
      return { ok: true, value: null };
    } catch (error) {
      const problem = problemOf(error);
      if (this.#connections.get(name) === connection) {
        this.#tell({ kind: "server", server: { name, kind, status: "failed", problem, tools: [] } });
      }
      return { ok: false, problem };
    }
  }

  async disconnect(server: string): Promise<void> {
    const connection = this.#connections.get(server);
    if (connection === undefined) return;
    this.#connections.delete(server);
    await connection[Symbol.asyncDispose]();
    this.#tell({ kind: "gone", server });
  }

  async call(request: CallRequest): Promise<Outcome<ShownResult>> {
    const controller = new AbortController();
    this.#calls.set(request.id, controller);
    const result = await outcome(async () => {
      const connection = this.#connection(request.server);
      const reduced = await connection.call(request, controller.signal, (progress) =>
        this.#tell({ kind: "progress", call: request.id, progress }),
      );
      const { id, server } = request;
      const tool = request.tool.slice(server.length + 1);
      return this.#shown({ id, title: tool, server, tool, isError: reduced.isError, reduced });
    });
    this.#calls.delete(request.id);
    return controller.signal.aborted
      ? { ok: false, problem: { code: "E_CANCELLED", message: "It was cancelled." } }
      : result;
  }

  cancel(call: string): void {
    this.#calls.get(call)?.abort(new DOMException("It was cancelled.", "AbortError"));
  }

  answer(pause: string, value: unknown): void {
    this.#pauses.answer(pause, value);
  }

  async callback(url: string): Promise<Outcome<null>> {
    const address = new URL(url);
    return outcome(async () => {
      try {
        const manager = await this.#oauth();
        await manager.handleCallback(address, { user: VISITOR.user_id });
        this.#pauses.consented(address);
      } catch (error) {
        this.#pauses.consented(address, error);
        throw error;
      }
      return null;
    });
  }

  async take(file: File, as: "auto" | "file"): Promise<Outcome<ShownResult>> {
    return outcome(async () => {
      const { sluice, scope } = this.#gate();
      const pieces = as === "auto" && (await isJson(file)) ? textOf(file) : asResult(file);
      const options = { tool: "dropped", namespace: "dropped", scope, dialect: "mcp" } as const;
      const reduced = await through(sluice, options, pieces);
      const id = crypto.randomUUID();
      return this.#shown({ id, title: file.name, server: "dropped", tool: "dropped", isError: false, reduced });
    });
  }

  async configure(config: SluiceConfig): Promise<Outcome<null>> {
    return outcome(async () => {
      // Retention is the playground's own: what is stored already was stored under it.
      if (config.retention !== undefined) {
        throw new SluiceError("E_CONFIG_KEY", "retention is not chosen here: it holds for everything that is stored.", {
          path: "retention",
        });
      }
      const sluice = await createSluice({ store: this.#store, config });
      this.#gating = { sluice, scope: this.#scope, isDefault: Object.keys(config).length === 0 };
      return null;
    });
  }

  async again(result: string): Promise<Outcome<ShownResult>> {
    return outcome(async () => shown(this.#result(result), this.#gate()));
  }

  async raw(result: string): Promise<ReadableStream<Uint8Array>> {
    return original(this.#result(result), this.#gate());
  }

  async bytes(
    shelf: Shelf,
    id: string,
    range?: { start: number; end?: number },
  ): Promise<ReadableStream<Uint8Array> | null> {
    if (shelf === "files") return this.#files.bytes(id, range);
    return this.#store.openReader(id, { scope: this.#scope, ...(range !== undefined && { range }) });
  }

  async resources(server: string): Promise<Outcome<ShownResources>> {
    return outcome(() =>
      this.#connection(server).use(async (node, context) => {
        const { items: resources } = await node.listResources(context);
        const { items: templates } = await node.listResourceTemplates(context);
        return { resources, templates };
      }),
    );
  }

  async read(server: string, uri: string): Promise<Outcome<ShownReading>> {
    return outcome(() =>
      this.#connection(server).use(async (node, context) => {
        const { contents, artifacts } = await node.readResource(uri, context);
        return { contents, artifacts: artifacts.map(({ scope: _, ...artifact }) => artifact) };
      }),
    );
  }

  async subscribe(server: string, uri: string, wanted: boolean): Promise<Outcome<null>> {
    return outcome(() =>
      this.#connection(server).use(async (node, context) => {
        await (wanted ? node.subscribe(uri, context) : node.unsubscribe(uri, context));
        return null;
      }),
    );
  }

  async complete(server: string, template: string, variable: string, value: string): Promise<readonly string[]> {
    const completed = await outcome(() =>
      this.#connection(server).use((node, context) => node.complete(template, variable, value, context)),
    );
    return completed.ok ? completed.value : [];
  }

  async files(): Promise<readonly ShownFile[]> {
    return this.#files.list();
  }

  async save(id: string): Promise<Outcome<ShownFile>> {
    return outcome(async () => {
      const known = await this.#store.stat(id, this.#scope);
      const bytes = await this.#store.openReader(id, { scope: this.#scope });
      if (known === null || bytes === null) {
        throw new SluiceError("E_EXPIRED", "The artifact has expired: call the tool again.");
      }
      const { mime_type, filename, namespace, source } = known;
      return this.#kept(await this.#files.keep(bytes, { mime_type, filename, namespace, source }));
    });
  }

  async keep(file: File): Promise<Outcome<ShownFile>> {
    return outcome(async () => {
      const mime_type = file.type === "" ? null : file.type;
      return this.#kept(await this.#files.keep(file.stream(), { mime_type, filename: file.name }));
    });
  }

  async rename(id: string, filename: string): Promise<Outcome<null>> {
    return outcome(async () => {
      await this.#files.rename(id, filename);
      this.#tell({ kind: "files_changed" });
      return null;
    });
  }

  async remove(shelf: Shelf, id: string): Promise<boolean> {
    const removed = shelf === "files" ? await this.#files.remove(id) : await this.#store.delete(id, this.#scope);
    if (shelf === "files") this.#tell({ kind: "files_changed" });
    return removed;
  }

  async space(): Promise<ShownSpace> {
    const { usage = 0, quota = 0 } = await navigator.storage.estimate();
    return { used: usage, quota };
  }

  async end(): Promise<void> {
    for (const call of this.#calls.keys()) this.cancel(call);
    await Promise.all([...this.#connections.keys()].map((server) => this.disconnect(server)));
    if (this.#keys !== undefined) {
      await endSession(this.#keys.session, { sessions: this.#stores.sessions, store: this.#stores.of });
    }
    this.#results.clear();
    this.#tell({ kind: "ended" });
  }

  #oauth(): Promise<OAuthManager> {
    this.#manager ??= import("./oauth.js").then(({ OAuthManager }) => new OAuthManager({ providers: {} }));
    return this.#manager;
  }

  #connectionTerms(): ConnectionTerms {
    return {
      store: this.#store,
      scope: this.#scope,
      manager: () => this.#oauth(),
      callback: this.#callback,
      pauses: this.#pauses,
      demo: { url: DEMO_URL, fetch: demoFetch() },
      onEvent: (server, event) => this.#heard(server, event),
    };
  }

  #heard(server: string, event: ToolNodeEvent): void {
    switch (event.kind) {
      case "resource": {
        const { event: resource } = event;
        if (resource.kind === "updated") this.#tell({ kind: "resource_updated", server, uri: resource.uri });
        else this.#tell({ kind: "resources_changed", server });
        return;
      }
      case "tools_changed":
        this.#toolsChanged(server).catch(() => undefined);
        return;
      default:
        this.#tell({ kind: "log", server, ...lineOf(event) });
    }
  }

  async #toolsChanged(server: string): Promise<void> {
    const connection = this.#connections.get(server);
    if (connection === undefined) return;
    const { name, kind } = connection.address;
    this.#tell({ kind: "server", server: { name, kind, status: "ready", tools: await connection.tools() } });
  }

  async #shown(kept: KeptResult): Promise<ShownResult> {
    this.#results.set(kept.id, kept);
    for (const id of this.#results.keys()) {
      if (this.#results.size <= MAX_RESULTS) break;
      this.#results.delete(id);
    }
    return shown(kept, this.#gate());
  }

  #kept(file: ShownFile): ShownFile {
    this.#tell({ kind: "files_changed" });
    return file;
  }

  #gate(): Gating {
    if (this.#gating === undefined) throw new SluiceError("E_MISUSE", "The engine has not started yet.");
    return this.#gating;
  }

  #connection(server: string): Connection {
    const connection = this.#connections.get(server);
    if (connection === undefined) throw new SluiceError("E_NOT_FOUND", `${server} is not connected: connect it first.`);
    return connection;
  }

  #result(id: string): KeptResult {
    const result = this.#results.get(id);
    if (result === undefined) throw new SluiceError("E_EXPIRED", "The result is no longer kept: call the tool again.");
    return result;
  }
}
