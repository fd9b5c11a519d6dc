/**
 * One request for a person's consent: from the question to their answer, with the window in between.
 * @module
 */
import type { OAuthManager } from "mcp-sluice/tools";
import { CALLBACKS } from "./callback-channel.js";

/** How it stands. Only `agreed` and `refused` are final: from all others the person can go on. */
export type SignInState = "asking" | "waiting" | "closed" | "blocked" | "failed" | "agreed" | "refused";

/** What is asked. */
export interface SignInQuestion {
  /** The provider's name in the manager. */
  readonly provider: string;
  /** The provider's name for people. */
  readonly displayName: string;
  /** Where they consent. */
  readonly address: string;
  /** What it would allow. */
  readonly scopes: readonly string[];
  /** The tool that needs it. */
  readonly tool: string;
  /** Who is asked. */
  readonly user: string;
}

/** Milliseconds between two looks at whether the window is still open. */
const LOOK = 400;

/** Asks in a window of the provider's. Dispatches `change` when its state does. */
export class SignIn extends EventTarget {
  /** Whether they agreed. */
  readonly answer: Promise<boolean>;
  readonly question: SignInQuestion;
  readonly #manager: OAuthManager;
  readonly #channel = new BroadcastChannel(CALLBACKS);
  #resolve: (isAgreed: boolean) => void = () => undefined;
  #state: SignInState = "asking";
  /** Undefined once it was answered: each is good for one answer. */
  #address: URL | undefined;
  #window: Window | null = null;
  #clock: ReturnType<typeof setInterval> | undefined;

  constructor(manager: OAuthManager, question: SignInQuestion) {
    super();
    this.#manager = manager;
    this.question = question;
    this.#address = new URL(question.address);
    this.answer = new Promise((resolve) => (this.#resolve = resolve));
    this.#channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
      if (typeof data === "string" && URL.canParse(data)) void this.#called(new URL(data));
    });
  }

  /** How it stands. */
  get state(): SignInState {
    return this.#state;
  }

  /** Whether they decided. */
  get isOver(): boolean {
    return this.#state === "agreed" || this.#state === "refused";
  }

  /** Opens the provider's page. Call it where the person pressed something, or browsers open no window. */
  async begin(): Promise<void> {
    this.#stopLooking();
    const opened = window.open("", "_blank", "popup,width=520,height=720");
    if (opened === null) return this.#become("blocked");
    // The provider's page gets no hold of this one, and this one still sees whether it is closed.
    opened.opener = null;
    this.#window = opened;
    this.#become("waiting");
    try {
      this.#address ??= await this.#askedAnew();
      opened.location.replace(this.#address);
      this.#look(opened);
    } catch {
      opened.close();
      this.#become("failed");
    }
  }

  /** They do not want to. */
  refuse(): void {
    this.#window?.close();
    this.#end("refused");
  }

  async #askedAnew(): Promise<URL> {
    const { provider, user } = this.question;
    const { auth_url } = await this.#manager.getAuthRequest({ provider, user_id: user });
    return new URL(auth_url);
  }

  /** The provider's answer. It is as good where the window seemed closed: some providers hide theirs. */
  async #called(url: URL): Promise<void> {
    if (this.#address === undefined) return;
    if (url.searchParams.get("state") !== this.#address.searchParams.get("state")) return;
    this.#address = undefined;
    this.#stopLooking();
    try {
      await this.#manager.handleCallback(url, { user: this.question.user });
      this.#end("agreed");
    } catch {
      if (url.searchParams.get("error") === "access_denied") this.#end("refused");
      else this.#become("failed");
    }
  }

  #look(opened: Window): void {
    let wasClosed = false;
    this.#clock = setInterval(() => {
      // A window that closes by itself has answered, and the answer takes a moment: the second look counts.
      if (wasClosed) {
        this.#stopLooking();
        this.#become("closed");
      }
      wasClosed = opened.closed;
    }, LOOK);
  }

  #stopLooking(): void {
    clearInterval(this.#clock);
  }

  #end(state: "agreed" | "refused"): void {
    this.#stopLooking();
    this.#channel.close();
    this.#become(state);
    this.#resolve(state === "agreed");
  }

  #become(state: SignInState): void {
    // What is final stays, whatever comes late.
    if (this.isOver) return;
    this.#state = state;
    this.dispatchEvent(new Event("change"));
  }
}
