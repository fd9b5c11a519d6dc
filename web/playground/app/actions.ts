/**
 * Everything a person can do, one method each: it asks the engine and writes the outcome into the state.
 * @module
 */
import { proxy, type Remote } from "comlink";
import { type ByteRange, humanSize, type SluiceConfig } from "mcp-sluice";
import type { ArtifactBytes, ShownArtifact } from "mcp-sluice/ui";
import { saveAsFile } from "../../ui/download.js";
import type { ResourceReader } from "../../ui/resources.js";
import type {
  CallRequest,
  CountedTokens,
  Engine,
  EngineEvent,
  Outcome,
  Problem,
  ServerAddress,
  ShownResult,
} from "../engine/messages.js";
import type { Keys, Shelf } from "../engine/shelves.js";
import { longer, TIMEOUT } from "../engine/time-limit.js";
import { writeRoute, type Route } from "./route.js";
import { Addresses, remember, readRemembered, serverOfPage, tellEnd } from "./browser.js";
import {
  addLogLine,
  afterEnd,
  changeBy,
  type Notice,
  findShelf,
  type ShownCall,
  type Store,
  type Theme,
  type View,
  withNewCall,
  withNotice,
} from "./state.js";
import type { ShareLink } from "./call/shared-result.js";
import type { PageMemory } from "./memory/memory.js";
import type { KnownServer } from "./memory/servers.js";
import type { Conversation } from "./chat/conversation.js";
import type { ChatTurn } from "./chat/turn.js";
import type { PageServer } from "./page-server.js";

/** The call that runs for a new visitor. */
export const FIRST = { tool: "demo.sales_report", args: { quarter: "Q3" } };

const DEMO: ServerAddress = { name: "demo", kind: "demo", url: "" };

const ENDED = "The session ended: its calls, and the files that they stored, are deleted. My Files are still here.";

/** A configuration to apply, and whether this browser keeps it. */
interface Configuring {
  readonly config: SluiceConfig;
  readonly isKept: boolean;
}

/** The actions of the page. */
export class Actions {
  readonly #engine: Remote<Engine>;
  readonly #store: Store;
  /** By server name. A reader remembers what was read and subscribed to, so each server keeps its own. */
  readonly readers = new Map<string, ResourceReader>();
  /** Set when the page comes from a server of Sluice. */
  pageServer: PageServer | undefined;
  /** Created when the chat is first shown. */
  conversation: Conversation | undefined;
  /** Tokens that were asked for, which may take seconds. */
  readonly counts = new WeakMap<ShownResult, Promise<Outcome<CountedTokens>>>();
  #addresses: Addresses | undefined;
  /** Loaded after the first result, or at once if there is something to remember. */
  #memory: PageMemory | undefined;
  #opening: Promise<void> | undefined;
  /** By server name, so that a failed connection can be retried. */
  readonly #serverAddresses = new Map<string, KnownServer>();
  /** Names of the servers that were connected once: they stay listed when they fail. */
  readonly #proven = new Set<string>();
  /** Ends of sessions run one after the other. */
  #ending: Promise<void> = Promise.resolve();
  readonly #loading = new Latest<void, void>(() => this.#loadFiles());
  readonly #configuring = new Latest((wanted: Configuring) => this.#configure(wanted));

  constructor(engine: Remote<Engine>, store: Store) {
    this.#engine = engine;
    this.#store = store;
  }

  /** Starts the engine, and connects the servers where the address names something that may need them. */
  async start(route: Route): Promise<void> {
    this.#store.set({ view: route.view });
    if (readRemembered<boolean>("memory") === true) await this.#openMemory();
    await this.#engine.listen(proxy((event: EngineEvent) => this.#onEvent(event)));
    if (!(await this.#begin())) return;
    const isBare = writeRoute(route) === writeRoute({ view: "try" }) && this.#store.state.calls.length === 0;
    if (isBare) return;
    await this.connectServers();
    await this.#memory?.adopt();
    // A person who has moved on meanwhile stays there.
    const isStill = this.#store.state.view === route.view;
    if (isStill && writeRoute(route) !== writeRoute({ view: route.view })) await this.open(route);
  }

  /** Opens a session. Returns whether it could. */
  async #begin(): Promise<boolean> {
    const config = readRemembered<SluiceConfig>("config") ?? {};
    const callback = new URL("callback.html", document.baseURI).href;
    const started = await this.#engine.start({ keys: readRemembered<Partial<Keys>>("keys") ?? {}, config, callback });
    if (!started.ok) {
      this.#store.set({ problem: started.problem });
      return false;
    }
    const { keys, problem } = started.value;
    remember("keys", keys);
    this.#addresses = new Addresses(keys);
    this.#store.set({ config: problem === undefined ? config : {} });
    if (problem !== undefined) {
      this.#note({ level: "warn", text: `The guardrails were reset to the defaults: ${problem.message}` });
    }
    return true;
  }

  /** Connects the demo and the servers of this tab, unless they are. */
  async connectServers(): Promise<void> {
    const { isReady, problem } = this.#store.state;
    if (isReady || problem !== undefined) return;
    await this.connect(DEMO);
    await this.#connectAgain();
    this.#store.set({ isReady: true });
  }

  /** Connects the servers that this tab remembers, and waits for none of them. */
  async #connectAgain(): Promise<void> {
    for (const known of (await this.#memory?.showServers().catch(() => [])) ?? []) {
      this.#serverAddresses.set(known.name, known);
      this.#proven.add(known.name);
      if (known.lacks === undefined) void this.#engine.connect(known);
    }
  }

  /** Resolves when questions can be answered: by the page's own server too, if there is one. */
  async whenReady(): Promise<void> {
    const isReady = (): boolean => {
      const { isReady: isHere, problem, serve } = this.#store.state;
      return problem !== undefined || (isHere && (serve !== undefined || serverOfPage() === undefined));
    };
    if (isReady()) return;
    await new Promise<void>((resolve) => {
      const forget = this.#store.listen(() => {
        if (!isReady()) return;
        forget();
        resolve();
      });
    });
  }

  /** Runs the first example, unless the address brought a result, and counts My Files. What connects servers is not waited for. */
  async first(): Promise<void> {
    const { isReady, calls, problem } = this.#store.state;
    if (problem !== undefined) return;
    if (!isReady) await this.#engine.introduce(DEMO);
    if (calls.length === 0) await this.run(FIRST.tool, FIRST.args);
    this.#store.set({ fileCount: await this.#engine.fileCount() });
  }

  /** Remembers calls from now on. After the first result, which must not wait for it. */
  async follow(): Promise<void> {
    if (!this.#store.state.isReady) return;
    if (this.#memory === undefined) await this.#openMemory();
    this.#memory?.follow();
    if (this.conversation !== undefined) this.keepTurns(this.conversation.turns, this.conversation.secret);
    remember("memory", this.#memory !== undefined);
  }

  /** The turns of the chat that this tab remembers, oldest first. */
  async recalledTurns(): Promise<readonly ChatTurn[]> {
    await this.#opening;
    return (await this.#memory?.turns().catch(() => [])) ?? [];
  }

  /** Remembers the turns of the chat, without the key of the model's server. */
  keepTurns(turns: readonly ChatTurn[], secret: string): void {
    this.#memory?.keepTurns(turns, secret);
  }

  /** Shows a call that another tab made; false if no tab remembers it. */
  async recall(call: string): Promise<boolean> {
    if (this.#memory === undefined) await this.#openMemory();
    return (await this.#memory?.bring(call)) ?? false;
  }

  #openMemory(): Promise<void> {
    this.#opening ??= this.#findMemory();
    return this.#opening;
  }

  async #findMemory(): Promise<void> {
    const tell = (text: string): void => this.#note({ level: "warn", text });
    const { PageMemory, describeMemoryError } = await import("./memory/memory.js");
    const deps = { store: this.#store, engine: this.#engine, servers: () => this.#listConnected(), tell };
    try {
      this.#memory = await PageMemory.open(deps);
    } catch (error) {
      tell(describeMemoryError(error));
    }
  }

  /** The servers that are remembered, in the order in which they are listed. */
  #listConnected(): readonly KnownServer[] {
    return this.#store.state.servers.flatMap(({ name, kind, signsIn }) => {
      const known = this.#proven.has(name) ? this.#serverAddresses.get(name) : undefined;
      if (known === undefined || kind === "serve" || name === "demo") return [];
      return [{ ...known, ...(signsIn === true && { lacks: "signIn" as const }) }];
    });
  }

  /** Shows what an address names, and says what is gone. */
  async open(route: Route): Promise<void> {
    const { openRoute } = await import("./destination.js");
    await openRoute(route, this);
  }

  /** A link that opens a call for everybody; undefined if its result is too large for one. */
  async link(call: ShownCall): Promise<ShareLink | undefined> {
    const { makeLink } = await import("./call/shared-result.js");
    return makeLink(call, this.#store.state, (id) => this.#engine.raw(id));
  }

  /** Downloads the original result of a call as JSON. */
  async downloadResult(call: ShownCall): Promise<void> {
    if (call.result === undefined) return;
    const { id } = call.result;
    const bytes = { open: () => this.#engine.raw(id) };
    await saveAsFile({ id, filename: `${call.tool}.json` }, bytes, new AbortController().signal);
  }

  /** The artifact with this id; undefined if it is gone. */
  async find(shelf: Shelf, id: string): Promise<ShownArtifact | undefined> {
    return (await this.#engine.find(shelf, id)) ?? undefined;
  }

  /** Shows another view. */
  go(view: View): void {
    const { preview } = this.#store.state;
    // A preview that covers the view closes with it.
    this.#store.set({ view, answer: undefined, preview: preview?.isWide === true ? undefined : preview });
  }

  /** Connects a server and shows it. One that cannot be connected the first time leaves nothing behind. */
  async connect(address: ServerAddress): Promise<Outcome<null>> {
    const { name, kind } = address;
    const before = this.#proven.has(name) ? this.#serverAddresses.get(name) : undefined;
    this.#serverAddresses.set(name, address);
    const outcome = await this.#engine.connect(address);
    if (outcome.ok) {
      this.#proven.add(name);
      this.#store.set({ server: name });
    } else if (before !== undefined) this.#restoreFailed(before);
    else if (kind !== "serve" && name !== "demo") await this.disconnect(name);
    return outcome;
  }

  /** A server that was connected before is listed as it was. */
  #restoreFailed(before: KnownServer): void {
    this.#serverAddresses.set(before.name, before);
    const { lacks } = before;
    if (lacks === undefined) return;
    const servers = this.#store.state.servers.map((each) => (each.name === before.name ? { ...each, lacks } : each));
    this.#store.set({ servers });
  }

  /** Connects a server by its URL. Replaces a failed connection to the same URL. */
  async connectUrl(url: string, token: string, userFiles = false): Promise<Outcome<null>> {
    const { addressFrom } = await import("./shell/servers-dialog.js");
    const { servers } = this.#store.state;
    const isSame = (known: KnownServer | undefined): boolean =>
      known?.url === url || (known?.lacks === "address" && url.startsWith(known.url));
    const taken = servers.filter(({ name, status }) => status !== "failed" || !isSame(this.#serverAddresses.get(name)));
    const failed = servers.find((server) => !taken.includes(server));
    const names = taken.map(({ name }) => name);
    const address = { ...addressFrom(url, token, names), ...(failed !== undefined && { name: failed.name }) };
    return this.connect({ ...address, userFiles });
  }

  /** Connects the demo server whose tools read and write My Files. */
  async connectFileDemo(): Promise<Outcome<null>> {
    return this.connect({ name: "files", kind: "demo", url: "files", userFiles: true });
  }

  /** The address of a server, without its token. */
  addressOf(server: string): (Omit<KnownServer, "token"> & { readonly hasToken: boolean }) | undefined {
    const address = this.#serverAddresses.get(server);
    if (address === undefined) return undefined;
    const { token, ...rest } = address;
    return { ...rest, hasToken: token !== undefined };
  }

  /** Retries a failed connection. */
  async reconnect(server: string): Promise<Outcome<null>> {
    const known = this.#serverAddresses.get(server);
    if (known === undefined) return { ok: true, value: null };
    const { lacks: _, ...address } = known;
    return this.connect(address);
  }

  async disconnect(server: string): Promise<void> {
    this.#serverAddresses.delete(server);
    this.#proven.delete(server);
    await this.#engine.disconnect(server);
    // The engine does not know one that was not connected again.
    const isListed = this.#store.state.servers.some(({ name }) => name === server);
    if (isListed) this.#onEvent({ kind: "gone", server });
  }

  /** Calls a tool and shows the call. `tool` starts with the server's name. */
  async run(tool: string, args: Readonly<Record<string, unknown>>, timeout = TIMEOUT): Promise<void> {
    const server = tool.slice(0, tool.indexOf("."));
    const request: CallRequest = { id: crypto.randomUUID(), server, tool, args, timeout };
    this.#store.set(withNewCall(this.#store.state, { ...request, title: tool }));
    await this.#finish(request.id, this.#engine.call(request));
  }

  /** Repeats a call, with the same time limit or a longer one. */
  async repeat(call: ShownCall, timeLimit: "same" | "more" = "same"): Promise<void> {
    if (call.file !== undefined) return this.take(call.file);
    if (call.server === "dropped") {
      const text = `${call.title} is not remembered over a reload: drop it again.`;
      return this.#store.set({ answer: { text, isBad: true } });
    }
    return this.run(call.tool, call.args, timeLimit === "more" ? longer(call.timeout) : call.timeout);
  }

  cancel(call: string): void {
    this.#engine.cancel(call).catch(() => undefined);
  }

  /** Gates a dropped file: as the tool result it contains, or as a file that a server sent. */
  async take(file: File, as: "auto" | "file" = "auto"): Promise<void> {
    const id = crypto.randomUUID();
    const call = { id, server: "dropped", tool: "dropped", args: {}, timeout: TIMEOUT, title: file.name, file };
    this.#store.set({ view: "try", ...withNewCall(this.#store.state, call) });
    await this.#finish(id, this.#engine.take(file, as));
  }

  /** Answers a paused call; null declines. */
  answer(pause: string, value: unknown): void {
    this.#engine.answer(pause, value).catch(() => undefined);
  }

  /** Completes a sign-in with the URL that the provider redirected to. */
  async signedIn(url: string): Promise<void> {
    this.#answer(await this.#engine.callback(url));
  }

  /**
   * Applies a configuration, remembers it unless `isKept` is false, and gates the current result again. When configurations come faster than they can be applied,
   * only the last one is.
   */
  configure(config: SluiceConfig, { isKept = true } = {}): Promise<Problem | undefined> {
    return this.#configuring.run({ config, isKept });
  }

  async #configure({ config, isKept }: Configuring): Promise<Problem | undefined> {
    const outcome = await this.#engine.configure(config);
    if (!outcome.ok) return outcome.problem;
    this.#store.set({ config });
    if (isKept) remember("config", config);
    const { calls, call } = this.#store.state;
    const current = calls.find(({ id }) => id === call);
    if (current?.result === undefined) return undefined;
    const again = await this.#engine.again(current.result.id);
    if (!again.ok) return again.problem;
    this.#store.setCall(current.id, { result: again.value });
    return undefined;
  }

  /** The bytes of an artifact, as a stream and, with a service worker, at a URL. */
  bytesOf(shelf: Shelf, artifact: ShownArtifact): ArtifactBytes {
    const href = this.#addresses?.of(shelf, artifact.id);
    return {
      open: (range?: ByteRange) => this.#engine.bytes(shelf, artifact.id, range),
      readText: () => this.#engine.readText(shelf, artifact.id),
      ...(href !== undefined && { href }),
    };
  }

  /** The URL of My Files as a ZIP; undefined without a service worker. */
  archiveHref(): string | undefined {
    return this.#addresses?.archive();
  }

  /** The original bytes of a result. */
  raw(result: string): Promise<ReadableStream<Uint8Array>> {
    return this.#engine.raw(result);
  }

  /** Shows an artifact in the drawer; undefined closes the drawer. */
  preview(artifact: ShownArtifact | undefined, shelf?: Shelf, isWide = false): void {
    const preview = artifact && { artifact, shelf: shelf ?? findShelf(artifact), isWide };
    this.#store.set({ preview });
  }

  /** Loads My Files. */
  loadFiles(): Promise<void> {
    return this.#loading.run();
  }

  async #loadFiles(): Promise<void> {
    const [files, space] = await Promise.all([this.#engine.files(), this.#engine.space()]);
    this.#store.set({ files, fileCount: files.length, space });
    // Of many files that are added, not each has all of them loaded again.
    await new Promise((resolve) => void setTimeout(resolve, BETWEEN_LOADS));
  }

  async save(artifact: ShownArtifact): Promise<void> {
    this.#answer(
      await this.#engine.save(findShelf(artifact), artifact.id),
      ({ filename }) => `${filename} is in My Files.`,
    );
  }

  /** Adds a notification; `call` is the id of the call that it is about. */
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
    // A deleted file leaves its list. A deleted artifact stays in its result, so say that it is gone.
    this.#answer(outcome, shelf !== "files" ? () => "It was deleted: its bytes are gone." : undefined);
    if (this.#store.state.preview?.artifact.id === id) this.preview(undefined);
  }

  /** The methods of the engine that read resources. */
  get resources(): Pick<Remote<Engine>, "resources" | "read" | "subscribe" | "complete" | "variables" | "expand"> {
    return this.#engine;
  }

  /** The state of the page. */
  get store(): Store {
    return this.#store;
  }

  /** The methods of the engine that lazily loaded parts of the page call directly. */
  get engine(): Pick<
    Remote<Engine>,
    | "again"
    | "versions"
    | "tokens"
    | "chat"
    | "stop"
    | "serve"
    | "signIn"
    | "watch"
    | "exchanges"
    | "forgetExchanges"
    | "about"
    | "prompts"
    | "reply"
    | "prompt"
    | "check"
  > {
    return this.#engine;
  }

  /** Clears the update mark of a resource that was read again. */
  seen(server: string, uri: string): void {
    const updates = new Set(this.#store.state.updates);
    if (updates.delete(`${server} ${uri}`)) this.#store.set({ updates });
  }

  setTheme(theme: Theme): void {
    remember("theme", theme);
    this.#store.set({ theme });
  }

  /**
   * Deletes everything the session stored, and starts a new one on the first screen. `isByOther`: another tab has done so,
   * and this one only lets go of what it holds.
   */
  end(isByOther = false): Promise<void> {
    this.#ending = this.#ending.then(() => this.#end(isByOther));
    return this.#ending;
  }

  async #end(isByOther: boolean): Promise<void> {
    const failure = await this.#engine.end(isByOther).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    this.conversation?.reset();
    this.#serverAddresses.clear();
    this.#proven.clear();
    this.readers.clear();
    // The session's key is revoked even when some data could not be deleted.
    const text = failure === undefined ? ENDED : `The session ended, but not everything could be deleted: ${failure}`;
    this.#store.set({ ...afterEnd(this.#store.state), answer: { text, isBad: failure !== undefined } });
    await this.#memory?.restart(isByOther).catch(() => undefined);
    if (!(await this.#begin())) return;
    await this.connectServers();
    await this.pageServer?.begin();
    // Only now, so that the other tabs share the new session instead of beginning one each.
    if (!isByOther) tellEnd();
    await this.first();
  }

  /** Shows the outcome of an action near the focus and adds it to the notifications. Success without `sentence` stays silent. */
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
    if (outcome.ok) {
      const state = outcome.value.isError ? "failed" : "done";
      this.#store.setCall(id, { state, result: outcome.value, endedAt });
    } else {
      const state = outcome.problem.code === "E_CANCELLED" ? "cancelled" : "failed";
      this.#store.setCall(id, { state, problem: outcome.problem, endedAt });
    }
    const filed = outcome.ok ? outcome.value.filed : undefined;
    if (filed !== undefined) void import("./display.js").then(({ applyDisplay }) => applyDisplay(filed, this, id));
    const call = this.#store.state.calls.find((each) => each.id === id);
    const isFailed = call?.state === "failed";
    if (call?.inBackground === true) {
      const text = `${call.title} ${isFailed ? "failed" : "is done"}.`;
      this.#note({ level: isFailed ? "bad" : "info", text, call: id });
    }
    if (call !== undefined) {
      const line = { at: endedAt, server: call.server, text: describeEnd(call), call: id };
      this.#store.set(addLogLine(this.#store.state, { ...line, level: isFailed ? "bad" : "info" }));
    }
    for (const failure of call?.result?.failures ?? []) {
      this.#note({ level: "bad", text: failure, call: id });
    }
  }

  #onEvent(event: EngineEvent): void {
    if (event.kind === "files_changed") this.loadFiles().catch(() => undefined);
    // Subscriptions end with the connection.
    if (event.kind === "gone") this.readers.delete(event.server);
    if (event.kind === "server" && event.server.status !== "ready") this.readers.delete(event.server.name);
    this.#store.set(changeBy(this.#store.state, event, Date.now()));
  }
}

/** What the log says of a call that has ended. */
function describeEnd({ title, state, startedAt, endedAt = startedAt, problem, result }: ShownCall): string {
  const seconds = `${((endedAt - startedAt) / 1000).toFixed(1)} s`;
  if (state === "cancelled") return `${title} was cancelled after ${seconds}.`;
  if (problem !== undefined) return `${title} failed after ${seconds}: ${problem.message}`;
  const sizes = result && `${humanSize(result.bytesIn)} sent, the model reads ${humanSize(result.bytesOut)}`;
  return state === "failed"
    ? `${title} failed after ${seconds}, and says why: ${sizes}.`
    : `${title} in ${seconds}: ${sizes}.`;
}

/** Milliseconds between two times that My Files are loaded. */
const BETWEEN_LOADS = 250;

/** Runs work for one input at a time. Of inputs that arrive meanwhile, only the last one runs. */
export class Latest<T, R> {
  readonly #work: (input: T) => Promise<R>;
  #waiting: { readonly input: T; readonly done: Promise<R> } | undefined;
  #running: Promise<unknown> | undefined;

  constructor(work: (input: T) => Promise<R>) {
    this.#work = work;
  }

  /** Resolves with the result for this input, or for a later one that replaced it. */
  run(input: T): Promise<R> {
    if (this.#waiting !== undefined) {
      this.#waiting = { ...this.#waiting, input };
      return this.#waiting.done;
    }
    const before = this.#running ?? Promise.resolve();
    const done = before.then(() => this.#next(input));
    this.#waiting = { input, done };
    // The next run starts after this one, even if this one fails.
    this.#running = done.catch(() => undefined);
    return done;
  }

  #next(first: T): Promise<R> {
    const input = this.#waiting === undefined ? first : this.#waiting.input;
    this.#waiting = undefined;
    return this.#work(input);
  }
}
