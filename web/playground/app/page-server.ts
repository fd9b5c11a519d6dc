/**
 * The server of Sluice that the page comes from: its session, its sources and what it stored. Loaded only on a page that comes from one.
 * @module
 */
import { css, html, nothing, type TemplateResult } from "lit";
import type { Outcome, ServedSource } from "../engine/messages.js";
import type { Actions } from "./actions.js";
import { NOTHING, type Store, type View } from "./state.js";
import { remember, readRemembered } from "./browser.js";
import { viewStyles } from "./styles.js";
import { ViewElement } from "./view-element.js";
import { artifactCards } from "./call/artifact-cards.js";

/** Names of the demo servers in this page. */
const OWN: ReadonlySet<string> = new Set(["demo", "files"]);

/** The name of a source in this page: its own, unless a demo has it. */
function nameSource({ name }: Pick<ServedSource, "name">): string {
  return OWN.has(name) ? `${name}-served` : name;
}

/** What local storage keeps of a session. Its cookie is not visible to scripts. */
interface KnownSession {
  readonly base: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** The session at that server. */
export class PageServer {
  readonly #base: string;
  readonly #actions: Actions;
  readonly #store: Store;
  #beginning: Promise<void> | undefined;

  /** `base` is the URL of the server and ends with `/`. */
  constructor(base: string, actions: Actions, store: Store) {
    this.#base = base;
    this.#actions = actions;
    this.#store = store;
    // A browser opens six connections to a server at most: a hidden page must not hold one.
    document.addEventListener("visibilitychange", () => this.#watch());
  }

  /** Resumes the session or starts one, then connects its sources. */
  begin(): Promise<void> {
    this.#beginning ??= this.#begin().finally(() => (this.#beginning = undefined));
    return this.#beginning;
  }

  /** Connects a source, whose results come as it answered: this page has the gate itself. */
  async connect(source: ServedSource): Promise<Outcome<null>> {
    const url = new URL(`raw/${encodeURIComponent(source.name)}`, this.#base).href;
    return this.#actions.connect({ name: nameSource(source), kind: "serve", url });
  }

  /** Signs the user in to a source that only the server connects to. */
  async signIn({ name }: ServedSource): Promise<Outcome<null>> {
    return this.#actions.engine.signIn(name);
  }

  async #begin(): Promise<void> {
    const known = readRemembered<Partial<KnownSession>>("session");
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

  /** Reconnects the sources of an ended session, or connects the first one. Not all: each holds a connection. */
  async #connectAgain(sources: readonly ServedSource[]): Promise<void> {
    const offered = sources.filter(({ asks_consent }) => !asks_consent);
    const before = offered.filter((source) =>
      this.#store.state.servers.some(({ name }) => name === nameSource(source)),
    );
    for (const source of before.length === 0 ? offered.slice(0, 1) : before) await this.connect(source);
  }
}

/** `<playground-session>` */
class SessionNote extends ViewElement {
  static override properties = { ...ViewElement.properties, isBusy: { state: true } };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
        padding: 12px 16px 0;
      }
    `,
  ];

  declare isBusy: boolean;

  constructor() {
    super();
    this.isBusy = false;
  }

  override render(): TemplateResult | typeof nothing {
    const { problem, isOver = false } = this.state.serve ?? {};
    if (problem === undefined) return nothing;
    return html`<div class="problem row" role="alert">
      <p class="grow">${problem.message}</p>
      <button class="primary" aria-disabled=${this.isBusy} @click=${this.#begin}>
        ${isOver ? "Start a new session" : "Try again"}
      </button>
    </div>`;
  }

  async #begin(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    await this.actions.pageServer?.begin();
    this.isBusy = false;
  }
}

customElements.define("playground-session", SessionNote);

/** `<playground-served-sources>` */
class ServedSources extends ViewElement {
  static override properties = {
    ...ViewElement.properties,
    isBusy: { attribute: false },
    tried: { attribute: false },
    signedIn: { state: true },
    problem: { state: true },
  };
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
      }
    `,
  ];

  /** A server is being connected. */
  declare isBusy: boolean;
  /** Shows the outcome of connecting, then a view. */
  declare tried: (connecting: Promise<Outcome<null>>, view: View) => Promise<Outcome<null>>;
  /** Names of the sources that the user signed in to in this visit. */
  declare signedIn: ReadonlySet<string>;
  declare problem: string | undefined;

  constructor() {
    super();
    this.signedIn = new Set();
    this.problem = undefined;
  }

  override render(): TemplateResult | typeof nothing {
    const { serve, servers } = this.state;
    const others = serve?.sources.filter((source) => !servers.some(({ name }) => name === nameSource(source))) ?? [];
    if (others.length === 0) return nothing;
    return html`<div class="stack">
      <h3>On this page's server</h3>
      <ul>
        ${others.map((source) => html`<li class="row"><strong class="grow cut">${source.name}</strong>${this.#offer(source)}</li>`)}
      </ul>
      ${this.problem === undefined ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`}
    </div>`;
  }

  #offer(source: ServedSource): TemplateResult {
    const { name, asks_consent } = source;
    if (!asks_consent) {
      return html`<button aria-label="Connect ${name}" ?disabled=${this.isBusy} @click=${() => this.#connect(source)}>
        Connect
      </button>`;
    }
    const isSignedIn = this.signedIn.has(name);
    return html`<span class="soft">for its chat</span> ${
        !isSignedIn
          ? html`<button aria-label="Sign in to ${name}" ?disabled=${this.isBusy} @click=${() => this.#signIn(source)}>
              Sign in
            </button>`
          : nothing
      }`;
  }

  #connect(source: ServedSource): void {
    const { pageServer } = this.actions;
    if (pageServer !== undefined) void this.tried(pageServer.connect(source), "tools");
  }

  /** The question is shown in the page, so the dialog closes meanwhile. */
  async #signIn(source: ServedSource): Promise<void> {
    const { pageServer } = this.actions;
    if (pageServer === undefined) return;
    this.problem = undefined;
    const outcome = await this.tried(pageServer.signIn(source), "chat");
    if (outcome.ok) this.signedIn = new Set([...this.signedIn, source.name]);
    else this.problem = outcome.problem.message;
  }
}

customElements.define("playground-served-sources", ServedSources);

/** `<playground-served>` */
class ServedCards extends ViewElement {
  static override styles = [
    viewStyles,
    css`
      :host {
        display: block;
      }
    `,
  ];

  override render(): TemplateResult | typeof nothing {
    const { serve } = this.state;
    if (serve === undefined) return nothing;
    const { artifacts, hasMore } = serve;
    return html`<section class="stack" aria-labelledby="served">
      <h2 id="served">On this page's server</h2>
      <p class="soft">
        ${
          artifacts.length === 0
            ? "The session has stored nothing on the server yet. What its chat stores is listed here."
            : "What the session stored on the server, until it ends."
        }
      </p>
      ${artifacts.length === 0 ? nothing : artifactCards(this.actions, artifacts)}
      ${hasMore ? html`<p class="soft">Only the newest ${artifacts.length} are listed.</p>` : nothing}
    </section>`;
  }
}

customElements.define("playground-served", ServedCards);
