/**
 * The agent behind the chat: two sources of tools, one of which needs the person's consent.
 * @module
 */
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { type PlannerEvent, ReactPlanner } from "mcp-sluice/planner";
import { OAuthManager, ToolNode } from "mcp-sluice/tools";
import type { ArtifactBytes, ShownArtifact } from "mcp-sluice/ui/react";
import { chooseModel } from "../model.js";
import { SERVER_URL, serverFetch } from "../server.js";
import { SignIn } from "./sign-in.js";

/** The person at this browser. An app with accounts has their name. */
const USER = "visitor";
const scope = { user_id: USER, session_id: "chat" };

/** What a run tells. */
export interface Listeners {
  /** Something happened. */
  readonly onEvent: (event: PlannerEvent) => void;
  /** A call waits for consent. */
  readonly onSignIn: (signIn: SignIn) => void;
}

/** Answers questions, each in a run of its own. */
export class Agent {
  readonly #store: IndexedDbArtifactStore;
  readonly #planner: ReactPlanner;
  readonly #manager: OAuthManager;

  private constructor(store: IndexedDbArtifactStore, planner: ReactPlanner, manager: OAuthManager) {
    this.#store = store;
    this.#planner = planner;
    this.#manager = manager;
  }

  /** Connects to the sources. */
  static async started(): Promise<Agent> {
    const store = new IndexedDbArtifactStore({ name: "chat" });
    const answer = await fetch("calendar.json");
    if (!answer.ok) throw new Error("The calendar did not start: see what Vite printed.");
    const { url, redirect_uri } = (await answer.json()) as { readonly url: string; readonly redirect_uri: string };
    // Tokens are in the memory of this page, and nowhere else: after a reload the person is asked again.
    const authManager = new OAuthManager({
      providers: {
        calendar: {
          display_name: "Example Calendar",
          issuer: url,
          client_id: "agent",
          redirect_uri,
          scopes: ["openid", "calendar.read"],
        },
      },
    });
    const shop = new ToolNode(
      { name: "shop", transport: "mcp", connection: SERVER_URL },
      { store, fetch: serverFetch },
    );
    const calendar = new ToolNode(
      { name: "calendar", transport: "http", connection: `${url}/openapi.json`, auth_type: "oauth2_user" },
      { store, authManager },
    );
    await Promise.all([shop, calendar].map((source) => source.connect({ scope })));
    const planner = new ReactPlanner({ catalog: [shop, calendar], llm: chooseModel(), artifactStore: store });
    return new Agent(store, planner, authManager);
  }

  /** Answers a question. Where a tool needs consent the run waits, and goes on by itself. */
  async ask(question: string, { onEvent, onSignIn }: Listeners): Promise<void> {
    let outcome = await this.#planner.run(question, { scope, onEvent });
    while (outcome.kind === "pause") {
      const { payload, tool, resumeToken } = outcome;
      let isAgreed = false;
      if (payload.pause_type === "oauth") {
        const { provider, display_name: displayName, auth_url: address, scopes } = payload;
        const signIn = new SignIn(this.#manager, { provider, displayName, address, scopes, tool, user: USER });
        onSignIn(signIn);
        isAgreed = await signIn.answer;
      }
      outcome = await this.#planner.resume(resumeToken, { scope, onEvent, answer: isAgreed ? true : null });
    }
  }

  /** The bytes of what a run stored. */
  bytesOf({ id }: ShownArtifact): ArtifactBytes {
    return { open: (range) => this.#store.openReader(id, { scope, ...(range && { range }) }) };
  }
}
