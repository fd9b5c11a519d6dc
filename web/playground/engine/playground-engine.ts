/**
 * The engine: servers, calls, results, the chat and the stores. It runs in a worker.
 * @module
 */
import { transfer, wrap } from "comlink";
import { type SluiceConfig, SluiceError } from "mcp-sluice";
import type { TemplateVariable } from "mcp-sluice/tools";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { Chat } from "./chat/chat.js";
import type { ChatEnd, ChatEvent, ChatRequest, Endpoint } from "./chat/messages.js";
import type {
  CallRequest,
  CountedTokens,
  Engine,
  EngineEvent,
  Outcome,
  ServeOffer,
  ServerAddress,
  ShownAbout,
  ShownExchange,
  ShownFile,
  ShownProgress,
  ShownPrompt,
  ShownPromptMessage,
  ShownReading,
  ShownResources,
  ShownResult,
  ShownSampling,
  ShownSpace,
  Started,
  StartOptions,
} from "./messages.js";
import { CANCELLED, outcome } from "./outcome.js";
import type { Inspection } from "./inspection.js";
import type { Resources } from "./resources.js";
import { isServed, type Shelf } from "./shelves.js";
import type { ServeSession } from "./serve/serve-session.js";
import type { Connection } from "./connection.js";
import { Results, type StoredResult } from "./results.js";
import { Servers } from "./servers.js";
import { Session } from "./session.js";
import { fileCount, VISITOR } from "./stores.js";
import type { Tokenizer } from "./tokenizer.js";

/** Implements the engine. */
export class PlaygroundEngine implements Engine {
  #listener: (event: EngineEvent) => void = () => undefined;
  readonly #tell = (event: EngineEvent): void => this.#listener(event);
  readonly #onFiles = (): void => this.#tell({ kind: "files_changed" });
  readonly #session = new Session(this.#onFiles);
  readonly #results = new Results(this.#session);
  readonly #servers = new Servers(this.#session, this.#tell);
  readonly #calls = new Calls(this.#servers, this.#results, this.#tell);
  /** Loaded on first use. */
  #chat: Chat | undefined;
  #resources: Resources | undefined;
  #inspection: Inspection | undefined;
  /** Set when the page comes from a server of Sluice. */
  #serve: ServeSession | undefined;

  listen(listener: (event: EngineEvent) => void): void {
    this.#listener = listener;
  }

  async start({ keys: known, config, callback }: StartOptions): Promise<Outcome<Started>> {
    return outcome(async () => {
      const keys = await this.#session.open(known);
      this.#servers.callback = callback;
      const configured = await this.configure(config);
      // A remembered configuration that is no longer valid must not prevent the start.
      if (!configured.ok) await this.configure({});
      return { keys, ...(!configured.ok && { problem: configured.problem }) };
    });
  }

  introduce(address: ServerAddress): void {
    this.#servers.introduce(address);
  }

  async connect(address: ServerAddress): Promise<Outcome<null>> {
    return this.#servers.connect(address);
  }

  async disconnect(server: string): Promise<void> {
    await this.#servers.disconnect(server);
  }

  async serve(base: string, isKnown: boolean): Promise<Outcome<ServeOffer>> {
    return outcome(async () => {
      const { ServeSession } = await import("./serve/serve-session.js");
      this.#serve ??= new ServeSession(base, this.#servers.pauses, this.#tell);
      return this.#serve.begin(isKnown);
    });
  }

  async signIn(source: string): Promise<Outcome<null>> {
    return doWork(() => this.#findServed().signIn(source));
  }

  watch(isSeen: boolean): void {
    this.#serve?.watch(isSeen);
  }

  async call(request: CallRequest): Promise<Outcome<ShownResult>> {
    const called = await this.#calls.run(request);
    if (!called.ok && called.problem.code === "E_TOOL_AUTH") void this.#serve?.check();
    return called;
  }

  cancel(call: string): void {
    this.#calls.cancel(call);
  }

  answer(pause: string, value: unknown): void {
    this.#servers.pauses.answer(pause, value);
  }

  async reply(model: Endpoint, asked: ShownSampling): Promise<Outcome<string>> {
    return outcome(async () => (await import("./chat/chat.js")).askModel(model, asked));
  }

  async callback(url: string): Promise<Outcome<null>> {
    return doWork(() => this.#servers.signedIn(new URL(url)));
  }

  async chat(request: ChatRequest, tell: (event: ChatEvent) => void): Promise<Outcome<ChatEnd>> {
    if (request.model.kind === "served") return outcome(() => this.#findServed().chat.ask(request, tell));
    return outcome(async () => (await this.#loadChat()).ask(request, this.#results.config, tell));
  }

  stop(question: string, call?: string): void {
    this.#chat?.stop(question, call);
    this.#serve?.chat.stop(question, call);
  }

  async take(file: File, as: "auto" | "file"): Promise<Outcome<ShownResult>> {
    return outcome(() => this.#results.take(file, as));
  }

  async configure(config: SluiceConfig): Promise<Outcome<null>> {
    return doWork(() => this.#results.configure(config));
  }

  async again(result: string, config?: SluiceConfig): Promise<Outcome<ShownResult>> {
    return outcome(() => this.#results.again(result, config));
  }

  async tokens(result: string): Promise<Outcome<CountedTokens>> {
    const counted = await outcome(async () => {
      const { observation } = await this.#results.again(result);
      return countTokens(this.#results.original(result), observation);
    });
    return counted.ok ? counted.value : counted;
  }

  async raw(result: string): Promise<ReadableStream<Uint8Array>> {
    return this.#results.original(result);
  }

  async bytes(
    shelf: Shelf,
    id: string,
    range?: { start: number; end?: number },
  ): Promise<ReadableStream<Uint8Array> | null> {
    if (isServed(shelf)) return this.#findServed().bytes(shelf, id, range);
    const { store, files, opened } = this.#session;
    const [place, scope] = shelf === "files" ? [files, VISITOR] : [store, await opened];
    return place.openReader(id, { scope, ...(range !== undefined && { range }) });
  }

  async readText(shelf: Shelf, id: string): Promise<ReadableStream<Uint8Array> | null> {
    if (isServed(shelf)) return null;
    const { readDocument } = await import("./document-text.js");
    const { store, files, opened } = this.#session;
    return shelf === "files" ? readDocument(files, VISITOR, id) : readDocument(store, await opened, id);
  }

  async exchanges(call?: string): Promise<readonly ShownExchange[]> {
    this.#servers.isWatched = true;
    return (await this.#loadInspection()).exchanges(call);
  }

  async forgetExchanges(): Promise<void> {
    (await this.#loadInspection()).forget();
  }

  async about(server: string): Promise<ShownAbout | undefined> {
    return (await this.#loadInspection()).about(server);
  }

  async check(server: string): Promise<void> {
    await (await this.#loadInspection()).check(server);
  }

  async prompts(server: string): Promise<Outcome<readonly ShownPrompt[]>> {
    return (await this.#loadInspection()).prompts(server);
  }

  async prompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
  ): Promise<Outcome<readonly ShownPromptMessage[]>> {
    return (await this.#loadInspection()).prompt(server, name, args);
  }

  async kept(result: string): Promise<StoredResult | null> {
    return this.#results.kept(result) ?? null;
  }

  async adopt(results: readonly StoredResult[]): Promise<readonly string[]> {
    const expired: string[] = [];
    for (const result of results) {
      this.#results.adopt(result);
      for (const { id, sha256, source } of result.reduced.artifacts) {
        if (sha256 === null || source["truncated"] === true) continue;
        if ((await this.find("session", id)) ?? (await this.find("files", id))) continue;
        expired.push(result.id);
        break;
      }
    }
    return expired;
  }

  async find(shelf: Shelf, id: string): Promise<ShownArtifact | null> {
    if (isServed(shelf)) return (await this.#serve?.find(shelf, id)) ?? null;
    const { store, files, scope } = this.#session;
    const known = shelf === "files" ? await files.stat(id, VISITOR) : await store.stat(id, scope);
    if (known === null) return null;
    const { scope: _, ...shown } = known;
    return shown;
  }

  async resources(server: string): Promise<Outcome<ShownResources>> {
    return (await this.#loadResources()).list(server);
  }

  async read(server: string, uri: string): Promise<Outcome<ShownReading>> {
    return (await this.#loadResources()).read(server, uri);
  }

  async subscribe(server: string, uri: string, wanted: boolean): Promise<Outcome<null>> {
    return (await this.#loadResources()).subscribe(server, uri, wanted);
  }

  async complete(server: string, template: string, variable: string, value: string): Promise<readonly string[]> {
    return (await this.#loadResources()).complete(server, template, variable, value);
  }

  async variables(template: string): Promise<Outcome<readonly TemplateVariable[]>> {
    return (await this.#loadResources()).variables(template);
  }

  async expand(template: string, values: Readonly<Record<string, string>>): Promise<Outcome<string>> {
    return (await this.#loadResources()).expand(template, values);
  }

  async files(): Promise<readonly ShownFile[]> {
    return (await this.#session.myFiles()).list();
  }

  async fileCount(): Promise<number> {
    return fileCount(this.#session.files);
  }

  async versions(id: string): Promise<Outcome<readonly ShownFile[]>> {
    return outcome(async () => (await this.#session.myFiles()).versions(id));
  }

  async save(shelf: Shelf, id: string): Promise<Outcome<ShownFile>> {
    return this.#changeFiles(async () => {
      if (isServed(shelf)) return (await this.#session.myFiles()).keep(await this.#findServed().file(shelf, id));
      const { store, scope } = this.#session;
      const known = await store.stat(id, scope);
      const bytes = await store.openReader(id, { scope });
      if (known === null || bytes === null) {
        throw new SluiceError("E_EXPIRED", "The artifact has expired: call the tool again.");
      }
      return (await this.#session.myFiles()).save(known, bytes);
    });
  }

  async keep(file: File): Promise<Outcome<ShownFile>> {
    return this.#changeFiles(async () => {
      return (await this.#session.myFiles()).keep(file);
    });
  }

  async rename(id: string, filename: string): Promise<Outcome<null>> {
    return this.#changeFiles(async () => {
      await (await this.#session.myFiles()).rename(id, filename);
      return null;
    });
  }

  async remove(shelf: Shelf, id: string): Promise<Outcome<boolean>> {
    const { store, scope } = this.#session;
    if (isServed(shelf)) return outcome(() => this.#findServed().remove(shelf, id));
    if (shelf === "session") return outcome(() => store.delete(id, scope));
    return this.#changeFiles(async () => (await this.#session.myFiles()).remove(id));
  }

  async space(): Promise<ShownSpace> {
    const { usage = 0, quota = 0 } = await navigator.storage.estimate();
    return { used: usage, quota };
  }

  async end(isByOther: boolean): Promise<void> {
    this.#calls.cancelAll();
    this.#chat?.stopAll();
    await this.#servers.disconnectAll();
    if (isByOther) this.#serve?.leave();
    const ends = isByOther ? [] : await Promise.allSettled([this.#session.end(), this.#serve?.end()]);
    this.#results.clear();
    this.#tell({ kind: "ended" });
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  #findServed(): ServeSession {
    if (this.#serve !== undefined) return this.#serve;
    throw new SluiceError(
      "E_MISUSE",
      "This page was not opened through `sluice serve`, so it has no server of its own.",
    );
  }

  async #loadChat(): Promise<Chat> {
    const { Chat } = await import("./chat/chat.js");
    return (this.#chat ??= new Chat(this.#session, this.#servers));
  }

  async #loadResources(): Promise<Resources> {
    const { Resources } = await import("./resources.js");
    return (this.#resources ??= new Resources(this.#servers));
  }

  async #loadInspection(): Promise<Inspection> {
    const { Inspection } = await import("./inspection.js");
    return (this.#inspection ??= new Inspection(this.#servers));
  }

  /** Changes My Files and reports it. */
  async #changeFiles<T>(work: () => Promise<T>): Promise<Outcome<T>> {
    const changed = await outcome(work);
    if (changed.ok) this.#onFiles();
    return changed;
  }
}

async function doWork(work: () => Promise<void>): Promise<Outcome<null>> {
  return outcome(async () => {
    await work();
    return null;
  });
}

/** The running calls. */
class Calls {
  readonly #servers: Servers;
  readonly #results: Results;
  readonly #tell: (event: EngineEvent) => void;
  readonly #running = new Map<string, AbortController>();

  constructor(servers: Servers, results: Results, tell: (event: EngineEvent) => void) {
    this.#servers = servers;
    this.#results = results;
    this.#tell = tell;
  }

  /** Makes a call and keeps its result. */
  async run(request: CallRequest): Promise<Outcome<ShownResult>> {
    const controller = new AbortController();
    const { signal } = controller;
    const { id, server } = request;
    this.#running.set(id, controller);
    const result = await outcome(async () => {
      const connection = this.#servers.get(server);
      const tool = request.tool.slice(server.length + 1);
      if (connection.isExample(request)) return this.#runExample(connection, request, tool, signal);
      const tell = (progress: ShownProgress): void => this.#tell({ kind: "progress", call: id, progress });
      const reduced = await this.#servers.call(connection, request, signal, tell);
      const { userFiles } = connection.address;
      return this.#results.add({
        id,
        title: tool,
        server,
        tool,
        isError: reduced.isError,
        reduced,
        ...(userFiles === true && { filed: reduced }),
      });
    });
    this.#running.delete(id);
    return signal.aborted ? { ok: false, problem: CANCELLED } : result;
  }

  async #runExample(
    connection: Connection,
    request: CallRequest,
    tool: string,
    signal: AbortSignal,
  ): Promise<ShownResult> {
    const { id, server } = request;
    const result = await this.#results.gate(connection.callExample(request, signal), { id, title: tool, server, tool });
    const [ref] = result.artifacts;
    if (ref !== undefined)
      this.#tell({ kind: "log", level: "info", server, text: `${request.tool}: stored ${ref.id}` });
    return result;
  }

  /** Cancels a call if it is running. */
  cancel(id: string): void {
    this.#running.get(id)?.abort(new DOMException(CANCELLED.message, "AbortError"));
  }

  /** Cancels all of them. */
  cancelAll(): void {
    for (const id of this.#running.keys()) this.cancel(id);
  }
}

const UNREACHABLE = "The tokenizer could not be loaded: try again when you are online.";

/** The tokens of both sides of a result, counted in a worker of its own so that calls do not wait for it. E_TOO_LARGE for one that is too long, E_UNKNOWN if the tokenizer cannot be loaded. */
async function countTokens(sent: ReadableStream<Uint8Array>, seen: string): Promise<Outcome<CountedTokens>> {
  const worker = new Worker(new URL("./tokenizer.ts", import.meta.url), { type: "module", name: "tokenizer" });
  const failed = new Promise<Outcome<never>>((resolve) => {
    const problem = { code: "E_UNKNOWN", message: UNREACHABLE };
    worker.addEventListener("error", () => resolve({ ok: false, problem }));
  });
  try {
    return await Promise.race([wrap<Tokenizer>(worker).count(transfer(sent, [sent]), seen), failed]);
  } finally {
    worker.terminate();
  }
}
