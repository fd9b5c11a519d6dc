/**
 * What a tab remembers over a reload: its calls with their results, the questions of the chat, and its servers. Loaded after
 * the first result, or at once if there is something to remember.
 * @module
 */
import type { Remote } from "comlink";
import type { Engine, Problem } from "../../engine/messages.js";
import type { StoredResult } from "../../engine/results.js";
import type { ChatCall, ChatTurn } from "../chat/turn.js";
import type { ShownCall, Store } from "../state.js";
import { type Entry, isFull, isRunning, LIMITS, type ListName, OtherVersion, TabMemory } from "./database.js";
import { type KnownServer, sentenceOfLack, toWaitingServer, withoutSecrets } from "./servers.js";

/** A call as it is remembered. */
interface RememberedCall {
  readonly state: ShownCall["state"];
  readonly call: Omit<ShownCall, "file" | "progress">;
  /** What the engine needs to gate it again; missing if it has no result. */
  readonly stored?: StoredResult;
}

/** Why something has no outcome. */
const LEFT: Problem = {
  code: "E_LEFT",
  message: "It was running when the page was left, which ended it: run it again.",
};

/** What a memory works with. */
export interface MemoryDeps {
  readonly store: Store;
  readonly engine: Pick<Remote<Engine>, "kept" | "adopt">;
  /** The servers that were connected, with their addresses. */
  readonly servers: () => readonly KnownServer[];
  /** Adds a notification. */
  readonly tell: (sentence: string) => void;
}

/** Shows what a tab remembers, and writes what it shows. */
export class PageMemory {
  readonly #tab: TabMemory;
  readonly #deps: MemoryDeps;
  /** What was written of each list, by id. */
  readonly #written = new Map<ListName, Map<string, unknown>>();
  #stored: readonly StoredResult[] = [];
  #turns: readonly ChatTurn[] | undefined;
  /** The key of the model's server, which is never written. */
  #secret = "";
  #servers = "";
  #writing: Promise<void> = Promise.resolve();
  #isWaiting = false;
  readonly #failures = new Set<string>();

  private constructor(tab: TabMemory, deps: MemoryDeps) {
    this.#tab = tab;
    this.#deps = deps;
  }

  /** Opens the memory of this tab and shows its calls. Throws as IndexedDB does. */
  static async open(deps: MemoryDeps): Promise<PageMemory> {
    const memory = new PageMemory(await TabMemory.open(), deps);
    await memory.#showCalls();
    return memory;
  }

  /** Lists the servers that this tab was connected to, says what each needs again, and returns them. */
  async showServers(): Promise<readonly KnownServer[]> {
    const { entries } = await this.#tab.read<KnownServer>("servers");
    const servers = entries.toReversed().map(({ value }) => value);
    const { store, tell } = this.#deps;
    store.set({ servers: [...store.state.servers, ...servers.map(toWaitingServer)] });
    for (const server of servers) if (server.lacks !== undefined) tell(sentenceOfLack(server));
    return servers;
  }

  /** The turns of the chat, oldest first. */
  async turns(): Promise<readonly ChatTurn[]> {
    const { entries, dropped } = await this.#tab.read<ChatTurn>("turns");
    this.#sayDropped("question of the chat", dropped, "turns");
    const turns = entries.toReversed().map(({ value }) => endTurn(value));
    this.#written.set("turns", new Map(turns.map((turn) => [turn.id, turn])));
    return turns;
  }

  /** Writes the turns of the chat, without the key of the model's server. */
  keepTurns(turns: readonly ChatTurn[], secret: string): void {
    this.#turns = turns;
    this.#secret = secret;
    this.#reportChange();
  }

  /** Gives the engine the results, so that they can be gated again, and marks those whose artifacts are gone. */
  async adopt(): Promise<void> {
    const { store, engine } = this.#deps;
    const expired = new Set(await engine.adopt(this.#stored));
    this.#stored = [];
    for (const { id, result } of store.state.calls) {
      if (result !== undefined && expired.has(result.id)) store.setCall(id, { isExpired: true });
    }
  }

  /** Writes calls and servers from now on. */
  follow(): void {
    this.#deps.store.listen(() => this.#reportChange());
    this.#reportChange();
  }

  /** Shows a call that another tab made; false if no tab remembers it. */
  async bring(id: string): Promise<boolean> {
    const { store } = this.#deps;
    const found = await this.#tab.find<RememberedCall>("calls", id);
    if (found === undefined || isRunning(found)) return false;
    store.set({ calls: [found.call, ...store.state.calls], call: id });
    this.#stored = found.stored === undefined ? [] : [found.stored];
    await this.adopt();
    return true;
  }

  /** Starts again after the end of a session, which another tab may have ended. */
  async restart(isByOther: boolean): Promise<void> {
    const restarting = this.#restart(this.#writing, isByOther);
    this.#writing = restarting.catch(() => undefined);
    await restarting;
  }

  async #restart(writing: Promise<void>, isByOther: boolean): Promise<void> {
    await writing;
    this.#written.clear();
    this.#turns = undefined;
    this.#servers = "";
    this.#stored = [];
    await this.#tab.restart(isByOther);
  }

  async #showCalls(): Promise<void> {
    const { store } = this.#deps;
    const { entries, dropped } = await this.#tab.read<RememberedCall>("calls");
    const { calls } = store.state;
    const known = new Set(calls.map(({ id }) => id));
    const before = entries.map(({ value }) => value).filter(({ call }) => !known.has(call.id));
    this.#stored = before.flatMap(({ stored }) => stored ?? []);
    const recalled = before.map(({ call }) => endCall(call));
    // One that was running is written again, as ended.
    const ended = before.filter((value) => !isRunning(value)).map(({ call }) => [call.id, call] as const);
    this.#written.set("calls", new Map(ended));
    const shown = [...calls, ...recalled];
    store.set({ calls: shown, call: store.state.call ?? shown[0]?.id });
    this.#sayDropped("call", dropped, "calls");
  }

  #sayDropped(what: string, dropped: number, list: ListName): void {
    if (dropped === 0) return;
    const { entries, chars } = LIMITS[list];
    const which = dropped === 1 ? `1 older ${what} was` : `${dropped} older ${plural(what)} were`;
    this.#deps.tell(`${which} dropped: a tab remembers ${entries} ${plural(what)} and ${chars / 1024 / 1024} MB.`);
  }

  #reportChange(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#writing = this.#writing.then(() => this.#write());
  }

  async #write(): Promise<void> {
    this.#isWaiting = false;
    try {
      await this.#writeCalls();
      await this.#writeTurns();
      await this.#writeServers();
    } catch (error) {
      const sentence = describeMemoryError(error);
      if (!this.#failures.has(sentence)) this.#deps.tell(sentence);
      this.#failures.add(sentence);
    }
  }

  async #writeCalls(): Promise<void> {
    const { store, engine } = this.#deps;
    const { calls } = store.state;
    await this.#writeList("calls", calls, async (shown) => {
      const { file: _, progress: __, ...call } = shown;
      const kept = call.result === undefined ? null : await engine.kept(call.result.id);
      const value: RememberedCall = { state: call.state, call, ...(kept !== null && { stored: kept }) };
      return { id: call.id, at: call.startedAt, value };
    });
  }

  async #writeTurns(): Promise<void> {
    const turns = this.#turns;
    if (turns === undefined) return;
    await this.#writeList("turns", turns, async (turn) => {
      return { id: turn.id, at: turn.askedAt, value: withoutKey(turn, this.#secret) };
    });
  }

  /** Writes entries that are new or have ended since, and removes others. */
  async #writeList<T extends { readonly id: string; readonly state: string }>(
    list: ListName,
    shown: readonly T[],
    entryOf: (each: T) => Promise<Entry>,
  ): Promise<void> {
    const written = this.#written.get(list) ?? new Map<string, unknown>();
    // What runs is written once: it changes many times a second.
    const changed = shown.filter((each) => written.get(each.id) !== (isRunning(each) ? RUNNING : each));
    const isLess = [...written.keys()].some((id) => !shown.some((each) => each.id === id));
    if (changed.length === 0 && !isLess) return;
    const entries: Entry[] = [];
    for (const each of changed) entries.push(await entryOf(each));
    await this.#tab.write(list, entries, new Set(shown.map(({ id }) => id)));
    this.#written.set(list, new Map(shown.map((each) => [each.id, isRunning(each) ? RUNNING : each])));
  }

  async #writeServers(): Promise<void> {
    const servers = this.#deps.servers().map(withoutSecrets);
    const text = JSON.stringify(servers);
    if (text === this.#servers) return;
    const entries = servers.map((value, at) => ({ id: value.name, at, value }));
    await this.#tab.write("servers", entries, new Set(servers.map(({ name }) => name)));
    this.#servers = text;
  }
}

/** Stands for what runs among what was written. */
const RUNNING = "running";

/** What ran when the page was left, as it ended then. */
function endCall(call: RememberedCall["call"]): ShownCall {
  return isRunning(call) ? { ...call, state: "cancelled", problem: LEFT, inBackground: false } : call;
}

/** What stands for a key. */
const HIDDEN = "•••";

/** A turn without the key of the model's server, which that may repeat in an error. */
function withoutKey(turn: ChatTurn, secret: string): ChatTurn {
  if (secret === "") return turn;
  const text = JSON.stringify(turn);
  const key = JSON.stringify(secret).slice(1, -1);
  return text.includes(key) ? (JSON.parse(text.replaceAll(key, HIDDEN)) as ChatTurn) : turn;
}

const LEFT_UNANSWERED: Problem = {
  code: "E_LEFT",
  message: "It was being answered when the page was left, which ended it: ask again.",
};

function isOpen({ state }: ChatCall): boolean {
  return state === "wanted" || state === "running" || state === "waiting";
}

/** A run at the page's server goes on there. */
const LEFT_AT_SERVER: Problem = {
  code: "E_LEFT",
  message: "The page was left before the answer came. The server goes on, and what it stores is listed in My Files.",
};

/** A turn that was being answered when the page was left, as it ended then. */
function endTurn(turn: ChatTurn): ChatTurn {
  if (!isRunning(turn)) return turn;
  return {
    ...turn,
    state: "failed",
    problem: turn.by === "served" ? LEFT_AT_SERVER : LEFT_UNANSWERED,
    steps: turn.steps.map((step) => ({
      ...step,
      calls: step.calls.map((call) => (isOpen(call) ? { ...call, state: "cancelled" } : call)),
    })),
  };
}

function plural(what: string): string {
  return what.replace(/^\w+/, "$&s");
}

/** What is said when something cannot be remembered. */
export function describeMemoryError(error: unknown): string {
  if (error instanceof OtherVersion) {
    return "Another version of this page is open in another tab, so this one remembers nothing new: close the older one and reload.";
  }
  if (isFull(error)) {
    return "This browser has no more room: after a reload, new calls and questions are gone. Delete some of My Files, or end the session.";
  }
  return "This browser does not let the page remember calls: after a reload, new ones are gone.";
}
