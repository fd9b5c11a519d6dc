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
import { longer, TIMEOUT } from "../engine/time-limit.js";
import { Addresses } from "./addresses.js";
import { withNewCall, withNotice } from "./changes.js";
import type { Conversation } from "./chat/conversation.js";
import { changeBy } from "./events.js";
import { Latest } from "./latest.js";
import { remembered, remember } from "./memory.js";
import { beginAnew } from "./session-channel.js";
import type { Serving } from "./serve/serving.js";
import { shelfOf, type Notice, type ShownCall, type Store, type Theme, type View } from "./state.js";

/** What a new visitor sees first. */
const FIRST = { tool: "demo.sales_chart", args: { kind: "bar" } };

/** Everything that the playground can do. */
export class Actions {
  readonly #engine: Remote<Engine>;
  readonly #store: Store;
  /** By server. What was read and subscribed to is known of a reader for as long as there is the same one. */
  readonly readers = new Map<string, ResourceReader>();
  /** Loaded where the page comes from a server of Sluice. */
  serving: Serving | undefined;
  /** Made by the chat when it is first shown. */
  conversation: Conversation | undefined;
  #addresses: Addresses | undefined;
  /** Servers that were chosen, by name: a failed one can be tried again. */
  readonly #dialled = new Map<string, ServerAddress>();
  readonly #configuring = new Latest((config: SluiceConfig) => this.#configure(config));

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
    if (problem !== undefined) {
      this.#note({ level: "warn", text: `The guardrails are the defaults again: ${problem.message}` });
    }
    await this.connect({ name: "demo", kind: "demo", url: "" });
    this.#store.set({ isReady: true });
    await this.run(FIRST.tool, FIRST.args);
    this.#store.set({ fileCount: await this.#engine.fileCount() });
  }

  /** Shows another view. */
  go(view: View): void {
    const { looked } = this.#store.state;
    // What stands in the place of a view goes with it.
    this.#store.set({ view, answer: undefined, looked: looked?.isWide === true ? undefined : looked });
  }

  async connect(address: ServerAddress): Promise<Outcome<null>> {
    this.#dialled.set(address.name, address);
    const outcome = await this.#engine.connect(address);
    if (outcome.ok) this.#store.set({ server: address.name });
    return outcome;
  }

  /** Connects a server by its address, in the place of one that failed there. */
  async dial(url: string, token: string, userFiles = false): Promise<Outcome<null>> {
    const { addressFrom } = await import("./server-address.js");
    const { servers } = this.#store.state;
    const taken = servers.filter(({ name, status }) => status !== "failed" || this.#dialled.get(name)?.url !== url);
    const failed = servers.find((server) => !taken.includes(server));
    const names = taken.map(({ name }) => name);
    const address = { ...addressFrom(url, token, names), ...(failed !== undefined && { name: failed.name }) };
    return this.connect({ ...address, userFiles });
  }

  /** Connects the demo whose tools work with My Files. */
  async dialFiles(): Promise<Outcome<null>> {
    return this.connect({ name: "files", kind: "demo", url: "files", userFiles: true });
  }

  /** Tries a server again that failed. */
  async redial(server: string): Promise<Outcome<null>> {
    const address = this.#dialled.get(server);
    return address === undefined ? { ok: true, value: null } : this.connect(address);
  }

  async disconnect(server: string): Promise<void> {
    this.#dialled.delete(server);
    await this.#engine.disconnect(server);
  }

  /** Calls a tool of any server, and shows the call. */
  async run(tool: string, args: Readonly<Record<string, unknown>>, timeout = TIMEOUT): Promise<void> {
    const server = tool.slice(0, tool.indexOf("."));
    const request: CallRequest = { id: crypto.randomUUID(), server, tool, args, timeout };
    this.#store.set(withNewCall(this.#store.state, { ...request, title: tool }));
    await this.#finish(request.id, this.#engine.call(request));
  }

  /** Makes the same call again. */
  async repeat(call: ShownCall, patience: "same" | "more" = "same"): Promise<void> {
    if (call.file !== undefined) return this.take(call.file);
    return this.run(call.tool, call.args, patience === "more" ? longer(call.timeout) : call.timeout);
  }

  cancel(call: string): void {
    this.#engine.cancel(call).catch(() => undefined);
  }

  /** Gates a file as what it says, or as a server would send it. */
  async take(file: File, as: "auto" | "file" = "auto"): Promise<void> {
    const id = crypto.randomUUID();
    const call = { id, server: "dropped", tool: "dropped", args: {}, timeout: TIMEOUT, title: file.name, file };
    this.#store.set({ view: "try", ...withNewCall(this.#store.state, call) });
    await this.#finish(id, this.#engine.take(file, as));
  }

  /** Answers a call that waits; null declines. */
  answer(pause: string, value: unknown): void {
    this.#engine.answer(pause, value).catch(() => undefined);
  }

  /** Where a provider sent the person back to. */
  async signedIn(url: string): Promise<void> {
    this.#answer(await this.#engine.callback(url));
  }

  /**
   * Decides by what a model sees from now on; gates the result in view anew. Of configurations that come faster than they
   * can be tried, the last one is.
   */
  configure(config: SluiceConfig): Promise<Problem | undefined> {
    return this.#configuring.run(config);
  }

  async #configure(config: SluiceConfig): Promise<Problem | undefined> {
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

  /** Shows an artifact in the drawer; undefined closes it. */
  look(artifact: ShownArtifact | undefined, shelf?: Shelf, isWide = false): void {
    const looked = artifact && { artifact, shelf: shelf ?? shelfOf(artifact), isWide };
    this.#store.set({ looked });
  }

  async lookAtFiles(): Promise<void> {
    const [files, space] = await Promise.all([this.#engine.files(), this.#engine.space()]);
    this.#store.set({ files, fileCount: files.length, space });
  }

  async save(artifact: ShownArtifact): Promise<void> {
    this.#answer(
      await this.#engine.save(shelfOf(artifact), artifact.id),
      ({ filename }) => `${filename} is in My Files.`,
    );
  }

  /** Tells a person what they did not ask for; `call` is what it is about. */
  tell(text: string, call: string | undefined): void {
    this.#note({ level: "info", text, ...(call !== undefined && { call }) });
  }

  async keep(files: Iterable<File>): Promise<void> {
    for (const file of files) this.#answer(await this.#engine.keep(file));
  }

  async rename(id: string, filename: string): Promise<void> {
    this.#answer(await this.#engine.rename(id, filename));
  }

  async remove(shelf: Shelf, id: string): Promise<void> {
    const outcome = await this.#engine.remove(shelf, id);
    // A file goes from the list; what a result names stays there.
    this.#answer(outcome, shelf !== "files" ? () => "It is deleted: its bytes can no longer be had." : undefined);
    if (this.#store.state.looked?.artifact.id === id) this.look(undefined);
  }

  /** The engine's side of resources, for the elements that show them. */
  get resources(): Pick<Remote<Engine>, "resources" | "read" | "subscribe" | "complete" | "variables" | "expand"> {
    return this.#engine;
  }

  /** What the page knows. */
  get store(): Store {
    return this.#store;
  }

  /** What parts of the page ask the engine themselves that are loaded when they are wanted. */
  get engine(): Pick<Remote<Engine>, "versions" | "chat" | "stop" | "serve" | "signIn" | "watch"> {
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

  /** Tells a person where they look what failed, or what `sentence` says of what they did; and once more at the bell. */
  #answer<T>(outcome: Outcome<T>, sentence?: (value: T) => string): void {
    if (outcome.ok && sentence === undefined) return;
    const text = outcome.ok ? (sentence?.(outcome.value) ?? "") : outcome.problem.message;
    this.#store.set({ answer: { text, isBad: !outcome.ok } });
    this.#note({ level: outcome.ok ? "info" : "bad", text, isAnswer: true });
  }

  #note(notice: Omit<Notice, "id" | "at">): void {
    this.#store.set(withNotice(this.#store.state, notice));
  }

  async #finish(id: string, asked: Promise<Outcome<NonNullable<ShownCall["result"]>>>): Promise<void> {
    const outcome = await asked;
    const endedAt = Date.now();
    if (outcome.ok) this.#store.setCall(id, { state: "done", result: outcome.value, endedAt });
    else {
      const state = outcome.problem.code === "E_CANCELLED" ? "cancelled" : "failed";
      this.#store.setCall(id, { state, problem: outcome.problem, endedAt });
    }
    const filed = outcome.ok ? outcome.value.filed : undefined;
    if (filed !== undefined) void import("./display.js").then(({ follow }) => follow(filed, this, id));
    const call = this.#store.state.calls.find((each) => each.id === id);
    if (call?.inBackground === true) {
      const text = `${call.title} ${outcome.ok ? "is done" : "failed"}.`;
      this.#note({ level: outcome.ok ? "info" : "bad", text, call: id });
    }
    for (const failure of call?.result?.failures ?? []) {
      this.#note({ level: "bad", text: failure, call: id });
    }
  }

  #heard(event: EngineEvent): void {
    if (event.kind === "files_changed") this.lookAtFiles().catch(() => undefined);
    // What was read and subscribed to ended with the connection.
    if (event.kind === "gone") this.readers.delete(event.server);
    if (event.kind === "server" && event.server.status !== "ready") this.readers.delete(event.server.name);
    this.#store.set(changeBy(this.#store.state, event, Date.now()));
  }
}
