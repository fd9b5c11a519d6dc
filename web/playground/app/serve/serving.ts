/**
 * The server that the page comes from, as the page has to do with it. Loaded where there is one.
 * @module
 */
import type { Outcome } from "../../engine/contract.js";
import type { ServedSource } from "../../engine/serve/contract.js";
import type { Actions } from "../actions.js";
import { NOTHING } from "../events.js";
import { remember, remembered } from "../memory.js";
import type { Store } from "../state.js";
import { nameOf } from "./name.js";

/** What is remembered of a session: its cookie is no script's to see. */
interface KnownSession {
  readonly base: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** The session there, from beginning to ending. */
export class Serving {
  readonly #base: string;
  readonly #actions: Actions;
  readonly #store: Store;
  #beginning: Promise<void> | undefined;

  /** `base` is where the server is, and ends with `/`. */
  constructor(base: string, actions: Actions, store: Store) {
    this.#base = base;
    this.#actions = actions;
    this.#store = store;
    // A browser has six connections for a server: a page that nobody sees must not hold one.
    document.addEventListener("visibilitychange", () => this.#watch());
  }

  /** Goes on with the session that there is, or begins one; connects the sources that are to be connected. */
  begin(): Promise<void> {
    this.#beginning ??= this.#begin().finally(() => (this.#beginning = undefined));
    return this.#beginning;
  }

  /** Connects a source that speaks MCP. */
  async connect(source: ServedSource): Promise<Outcome<null>> {
    const url = new URL(`mcp/${encodeURIComponent(source.name)}`, this.#base).href;
    return this.#actions.connect({ name: nameOf(source), kind: "serve", url });
  }

  /** Has the server connect a source of its own, to which the person gives access. */
  async signIn({ name }: ServedSource): Promise<Outcome<null>> {
    return this.#actions.engine.signIn(name);
  }

  async #begin(): Promise<void> {
    const known = remembered<Partial<KnownSession>>("session");
    const isKnown = known?.base === this.#base && (known.until ?? 0) > Date.now();
    const begun = await this.#actions.engine.serve(this.#base, isKnown);
    if (!begun.ok) {
      const now = this.#store.state.serve ?? NOTHING;
      return this.#store.set({ serve: { ...now, problem: begun.problem } });
    }
    const { sources, chat, expires_at: until } = begun.value;
    remember("session", { base: this.#base, until } satisfies KnownSession);
    const { artifacts, hasMore } = this.#store.state.serve ?? NOTHING;
    this.#store.set({ serve: { artifacts, hasMore, sources, chat } });
    if (document.visibilityState !== "visible") this.#watch();
    await this.#connectAgain(sources);
  }

  #watch(): void {
    this.#actions.engine.watch(document.visibilityState === "visible").catch(() => undefined);
  }

  /** The first one, so that there is something to see; after a session ended, those that were connected. Each holds a connection. */
  async #connectAgain(sources: readonly ServedSource[]): Promise<void> {
    const offered = sources.filter(({ has_mcp }) => has_mcp);
    const before = offered.filter((source) => this.#store.state.servers.some(({ name }) => name === nameOf(source)));
    for (const source of before.length === 0 ? offered.slice(0, 1) : before) await this.connect(source);
  }
}
