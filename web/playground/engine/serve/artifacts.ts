/**
 * The list of artifacts of the session at the page's server, updated when events report new ones.
 * @module
 */
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ServedListing } from "../messages.js";
import { toServedArtifact } from "./chat-events.js";
import { type Cursor, followEvents, type ServedEvent } from "./events.js";
import type { ServerClient } from "./client.js";

/** Artifacts in the list. */
const MAX_LISTED = 200;
/** Artifacts per request. */
const PAGE = 100;
/** Milliseconds in which changes are collected. */
const PACE = 300;
/** Milliseconds until a request that failed is made again. */
const AGAIN = 5000;

/** Events that change the list. */
const CHANGES: ReadonlySet<string> = new Set(["artifact_stored", "events_lost"]);

const LAST: ReadonlySet<string> = new Set(["session_ended"]);

interface Page {
  readonly artifacts: readonly ShownArtifact[];
  readonly next?: string;
}

/** Keeps the list current while the page is visible. */
export class ServedArtifacts {
  readonly #client: ServerClient;
  readonly #tell: (listing: ServedListing) => void;
  readonly #onConsent: (provider: string, isGiven: boolean) => void;
  /** Kept while the page is hidden, so that missed events are received later. */
  #cursor: Cursor = {};
  #watching: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onConsent` is called when the user returned from a provider. */
  constructor(
    client: ServerClient,
    tell: (listing: ServedListing) => void,
    onConsent: (provider: string, isGiven: boolean) => void,
  ) {
    this.#client = client;
    this.#tell = tell;
    this.#onConsent = onConsent;
  }

  /** Requests the list and reports it. Throws as the client does. */
  async list(): Promise<void> {
    const artifacts: ShownArtifact[] = [];
    let next: string | undefined;
    do {
      const after = next === undefined ? "" : `&after=${encodeURIComponent(next)}`;
      const page = await this.#client.json<Page>(`artifacts?limit=${PAGE}${after}`);
      artifacts.push(...page.artifacts);
      next = page.next;
    } while (next !== undefined && artifacts.length < MAX_LISTED);
    const newest = artifacts.toSorted((left, right) => (right.stored_at ?? 0) - (left.stored_at ?? 0));
    this.#tell({ artifacts: newest.slice(0, MAX_LISTED).map(toServedArtifact), hasMore: next !== undefined });
  }

  /** Starts or stops following events. A hidden page must not hold one of the browser's six connections. */
  watch(isWanted: boolean): void {
    if (isWanted === (this.#watching !== undefined)) return;
    this.#watching?.abort();
    this.#watching = isWanted ? new AbortController() : undefined;
    if (this.#watching !== undefined) void this.#follow(this.#watching.signal);
  }

  /** Stops and forgets the position in the events. */
  close(): void {
    this.watch(false);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#cursor = {};
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const open = (after: string | undefined): Promise<Response> =>
      this.#client.ask("events", { signal, ...(after !== undefined && { headers: { "Last-Event-ID": after } }) });
    try {
      this.#soon();
      const cursor = this.#cursor;
      for await (const event of followEvents({ open, signal, cursor, last: LAST, tries: Infinity })) this.#hear(event);
      // The session has ended: any request reports it.
      await this.list();
    } catch {
      // The session has ended or the page is hidden; both are handled elsewhere.
    }
  }

  #hear(event: ServedEvent): void {
    const { kind } = event;
    if (CHANGES.has(kind)) this.#soon();
    if (kind === "consent_answered") this.#onConsent(String(event["provider"]), event["given"] === true);
  }

  /** Requests the list after a moment, once for all changes until then, and again where that fails. */
  #soon(pause = PACE): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.list().catch(() => {
        if (this.#watching !== undefined) this.#soon(AGAIN);
      });
    }, pause);
  }
}
