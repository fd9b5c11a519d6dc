/**
 * What a person can do, each thing a method: it asks the engine, and writes what came of it into the state.
 * @module
 */
import { proxy, type Remote } from "comlink";
import type { ByteRange, SluiceConfig } from "mcp-sluice";
import type { ArtifactBytes, ShownArtifact } from "mcp-sluice/ui";
import type { ResourceReader } from "mcp-sluice/ui/resources";
import type { CallRequest, Engine, EngineEvent, Outcome, Problem, ServerAddress } from "../engine/contract.js";
import type { Keys, Shelf } from "../engine/shelves.js";
import { Addresses } from "./addresses.js";
import { remembered, remember } from "./memory.js";
import { beginAnew } from "./session-channel.js";
import type { Notice, ShownCall, Store, Theme, View } from "./state.js";

/** Seconds that a server may be silent, as long as nobody asks for more. */
const TIMEOUT = 30;
/** Seconds that a source can be given at most. */
const LONGEST_TIMEOUT = 300;
/** Calls, notices and lines that are shown; those before are forgotten. */
const MAX_CALLS = 50;
const MAX_NOTICES = 50;
const MAX_LINES = 500;
/** What a new visitor sees first. */
const FIRST = { tool: "demo.sales_chart", args: { kind: "bar" } };

/** Everything that the playground can do. */
export class Actions {
  readonly #engine: Remote<Engine>;
  readonly #store: Store;
  /** By server. What was read and subscribed to is known of a reader for as long as there is the same one. */
  readonly readers = new Map<string, ResourceReader>();
  #addresses: Addresses | undefined;

  constructor(engine: Remote<Engine>, store: Store) {
    this.#engine = engine;
    this.#store = store;
  }

  /** Opens the engine, connects to the demo, and shows a result. */
  async start(): Promise<void> {
    const config = remembered<SluiceConfig>("config") ?? {};
    await this.#engine.listen(proxy((event: EngineEvent) => this.#heard(event)));
    const callback = new URL("callback.html", document.baseURI).href;
    const started = await this.#engine.start({ keys: remembered<Partial<Keys>>("keys") ?? {}, config, callback });
    if (!started.ok) return this.#store.set({ problem: started.problem });
    const { keys, problem } = started.value;
    remember("keys", keys);
    this.#addresses = new Addresses(keys);
    this.#store.set({ config: problem === undefined ? config : {} });
    if (problem !== undefined) this.#note("warn", `The guardrails are the defaults again: ${problem.message}`);
    await this.connect({ name: "demo", kind: "demo", url: "" });
    this.#store.set({ isReady: true });
    await this.run(FIRST.tool, FIRST.args);
    await this.lookAtFiles();
  }

  /** Shows another view. */
  go(view: View): void {
    this.#store.set({ view });
  }

  async connect(address: ServerAddress): Promise<Outcome<null>> {
    const outcome = await this.#engine.connect(address);
    if (outcome.ok) this.#store.set({ server: address.name });
    return outcome;
  }

  async disconnect(server: string): Promise<void> {
    await this.#engine.disconnect(server);
    if (this.#store.state.server === server) this.#store.set({ server: "demo" });
  }

  /** Calls a tool of any server, and shows the call. */
  async run(tool: string, args: Readonly<Record<string, unknown>>, timeout = TIMEOUT): Promise<void> {
    const server = tool.slice(0, tool.indexOf("."));
    const request: CallRequest = { id: crypto.randomUUID(), server, tool, args, timeout };
    this.#begin({ ...request, title: tool });
    await this.#finish(request.id, this.#engine.call(request));
  }

  /** Makes the same call again. */
  async repeat(call: ShownCall, patience: "same" | "more" = "same"): Promise<void> {
    if (call.file !== undefined) return this.take(call.file);
    const timeout = patience === "more" ? Math.min(call.timeout * 2, LONGEST_TIMEOUT) : call.timeout;
    return this.run(call.tool, call.args, timeout);
  }

  cancel(call: string): void {
    this.#engine.cancel(call).catch(() => undefined);
  }

  /** Gates a file as what it says, or as a server would send it. */
  async take(file: File, as: "auto" | "file" = "auto"): Promise<void> {
    const id = crypto.randomUUID();
    this.#store.set({ view: "try" });
    this.#begin({ id, server: "dropped", tool: "dropped", args: {}, timeout: TIMEOUT, title: file.name, file });
    await this.#finish(id, this.#engine.take(file, as));
  }

  /** Answers a call that waits; null declines. */
  answer(pause: string, value: unknown): void {
    this.#engine.answer(pause, value).catch(() => undefined);
  }

  /** Where a provider sent the person back to. */
  async signedIn(url: string): Promise<void> {
    const outcome = await this.#engine.callback(url);
    if (!outcome.ok) this.#note("bad", outcome.problem.message);
  }

  /** Decides by what a model sees from now on; gates the result in view anew. */
  async configure(config: SluiceConfig): Promise<Problem | undefined> {
    const outcome = await this.#engine.configure(config);
    if (!outcome.ok) return outcome.problem;
    this.#store.set({ config });
    remember("config", config);
    const { calls, call } = this.#store.state;
    const current = calls.find(({ id }) => id === call);
    if (current?.result === undefined) return undefined;
    const again = await this.#engine.again(current.result.id);
    if (!again.ok) return again.problem;
    this.#store.setCall(current.id, { result: again.value });
    return undefined;
  }

  /** Where an artifact's bytes come from. */
  bytesOf(shelf: Shelf, artifact: ShownArtifact): ArtifactBytes {
    const href = this.#addresses?.of(shelf, artifact.id);
    return {
      open: (range?: ByteRange) => this.#engine.bytes(shelf, artifact.id, range),
      ...(href !== undefined && { href }),
    };
  }

  /** Where all of My Files is, as a ZIP; undefined as long as nobody answers there. */
  archiveHref(): string | undefined {
    return this.#addresses?.archive();
  }

  /** The original of a result. */
  raw(result: string): Promise<ReadableStream<Uint8Array>> {
    return this.#engine.raw(result);
  }

  look(artifact: ShownArtifact | undefined, shelf: Shelf = "session"): void {
    this.#store.set({ looked: artifact === undefined ? undefined : { artifact, shelf } });
  }

  async lookAtFiles(): Promise<void> {
    const [files, space] = await Promise.all([this.#engine.files(), this.#engine.space()]);
    this.#store.set({ files, space });
  }

  async save(artifact: ShownArtifact): Promise<void> {
    const outcome = await this.#engine.save(artifact.id);
    if (outcome.ok) this.#note("info", `${outcome.value.filename} is in My Files.`);
    else this.#note("bad", outcome.problem.message);
  }

  async keep(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      const outcome = await this.#engine.keep(file);
      if (!outcome.ok) this.#note("bad", outcome.problem.message);
    }
  }

  async rename(id: string, filename: string): Promise<void> {
    const outcome = await this.#engine.rename(id, filename);
    if (!outcome.ok) this.#note("bad", outcome.problem.message);
  }

  async remove(shelf: Shelf, id: string): Promise<void> {
    await this.#engine.remove(shelf, id);
    if (this.#store.state.looked?.artifact.id === id) this.look(undefined);
  }

  /** The engine's side of resources, for the elements that show them. */
  get resources(): Pick<Remote<Engine>, "resources" | "read" | "subscribe" | "complete"> {
    return this.#engine;
  }

  /** The resource was read again. */
  seen(server: string, uri: string): void {
    const updates = new Set(this.#store.state.updates);
    if (updates.delete(`${server} ${uri}`)) this.#store.set({ updates });
  }

  setTheme(theme: Theme): void {
    remember("theme", theme);
    this.#store.set({ theme });
  }

  /** Deletes all that the session stored, and begins another. */
  async end(): Promise<void> {
    try {
      await this.#engine.end();
    } finally {
      // Its key opens nothing any more, even where something could not be deleted.
      beginAnew();
    }
  }

  /** Tells a person something that they may have missed. */
  #note(level: Notice["level"], text: string, call?: string): void {
    const notice = { id: crypto.randomUUID(), level, text, at: Date.now(), ...(call !== undefined && { call }) };
    const { notices, unread } = this.#store.state;
    this.#store.set({ notices: [notice, ...notices].slice(0, MAX_NOTICES), unread: unread + 1 });
  }

  #begin(call: Omit<ShownCall, "state" | "startedAt">): void {
    const { calls } = this.#store.state;
    const begun: ShownCall = { ...call, state: "running", startedAt: Date.now() };
    this.#store.set({ calls: [begun, ...calls].slice(0, MAX_CALLS), call: call.id });
  }

  async #finish(id: string, asked: Promise<Outcome<NonNullable<ShownCall["result"]>>>): Promise<void> {
    const outcome = await asked;
    const endedAt = Date.now();
    if (outcome.ok) this.#store.setCall(id, { state: "done", result: outcome.value, endedAt });
    else {
      const state = outcome.problem.code === "E_CANCELLED" ? "cancelled" : "failed";
      this.#store.setCall(id, { state, problem: outcome.problem, endedAt });
    }
    const call = this.#store.state.calls.find((each) => each.id === id);
    if (call?.inBackground === true) {
      this.#note(outcome.ok ? "info" : "bad", `${call.title} ${outcome.ok ? "is done" : "failed"}.`, id);
    }
    for (const failure of call?.result?.failures ?? []) this.#note("bad", failure, id);
  }

  #heard(event: EngineEvent): void {
    const { servers, pauses, updates, log, changes } = this.#store.state;
    switch (event.kind) {
      case "server": {
        const { server } = event;
        const isKnown = servers.some(({ name }) => name === server.name);
        return this.#store.set({
          servers: isKnown ? servers.map((each) => (each.name === server.name ? server : each)) : [...servers, server],
        });
      }
      case "gone":
        this.readers.delete(event.server);
        return this.#store.set({ servers: servers.filter(({ name }) => name !== event.server) });
      case "progress":
        return this.#store.setCall(event.call, { progress: event.progress });
      case "paused":
        return this.#store.set({ pauses: [...pauses, event.pause] });
      case "resumed":
        return this.#store.set({ pauses: pauses.filter(({ id }) => id !== event.pause) });
      case "resource_updated":
        return this.#store.set({ updates: new Set([...updates, `${event.server} ${event.uri}`]) });
      case "resources_changed":
        return this.#store.set({ changes: changes + 1 });
      case "files_changed":
        this.lookAtFiles().catch(() => undefined);
        return;
      case "ended":
        return this.#store.set({ calls: [], call: undefined, looked: undefined });
      case "log": {
        const { level, server, text } = event;
        const line = { at: Date.now(), level, server, text };
        return this.#store.set({ log: [line, ...log].slice(0, MAX_LINES) });
      }
    }
  }
}
