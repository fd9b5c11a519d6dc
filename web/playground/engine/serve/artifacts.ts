/**
 * What happens in the session at the server: what was stored is listed, and listed anew when something was.
 * @module
 */
import type { ShownArtifact } from "mcp-sluice/ui";
import { served } from "./chat-events.js";
import type { ServedListing } from "./contract.js";
import { followed, type Cursor, type ServedEvent } from "./events.js";
import type { Exchange } from "./exchange.js";

/** Artifacts that are listed. */
const MAX_LISTED = 200;
/** Those of one answer. */
const PAGE = 100;
/** Milliseconds in which what was stored is told of together. */
const PACE = 300;

/** Events behind which the list may be another. */
const CHANGES: ReadonlySet<string> = new Set(["artifact_stored", "events_lost"]);

const LAST: ReadonlySet<string> = new Set(["session_ended"]);

interface Page {
  readonly artifacts: readonly ShownArtifact[];
  readonly next?: string;
}

/** Keeps a list current, as long as somebody looks. */
export class ServedArtifacts {
  readonly #exchange: Exchange;
  readonly #tell: (listing: ServedListing) => void;
  readonly #onConsent: (provider: string, isGiven: boolean) => void;
  /** Kept while nobody looks: what happens meanwhile is heard afterwards. */
  #cursor: Cursor = {};
  #watching: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `onConsent` is told when the person came back from a provider. */
  constructor(
    exchange: Exchange,
    tell: (listing: ServedListing) => void,
    onConsent: (provider: string, isGiven: boolean) => void,
  ) {
    this.#exchange = exchange;
    this.#tell = tell;
    this.#onConsent = onConsent;
  }

  /** Lists them, and tells. Throws as the exchange does. */
  async list(): Promise<void> {
    const artifacts: ShownArtifact[] = [];
    let next: string | undefined;
    do {
      const after = next === undefined ? "" : `&after=${encodeURIComponent(next)}`;
      const page = await this.#exchange.json<Page>(`artifacts?limit=${PAGE}${after}`);
      artifacts.push(...page.artifacts);
      next = page.next;
    } while (next !== undefined && artifacts.length < MAX_LISTED);
    const newest = artifacts.toSorted((left, right) => (right.stored_at ?? 0) - (left.stored_at ?? 0));
    this.#tell({ artifacts: newest.slice(0, MAX_LISTED).map(served), hasMore: next !== undefined });
  }

  /** Whether the list is kept current. A page that nobody sees must not hold a connection: a browser has six for a server. */
  watch(isWanted: boolean): void {
    if (isWanted === (this.#watching !== undefined)) return;
    this.#watching?.abort();
    this.#watching = isWanted ? new AbortController() : undefined;
    if (this.#watching !== undefined) void this.#followed(this.#watching.signal);
  }

  /** What happens is not waited for any more. */
  close(): void {
    this.watch(false);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#cursor = {};
  }

  async #followed(signal: AbortSignal): Promise<void> {
    const open = (after: string | undefined): Promise<Response> =>
      this.#exchange.ask("events", { signal, ...(after !== undefined && { headers: { "Last-Event-ID": after } }) });
    try {
      this.#soon();
      const cursor = this.#cursor;
      for await (const event of followed({ open, signal, cursor, last: LAST, tries: Infinity })) this.#hear(event);
      // Asking for anything says that the session is over.
      await this.list();
    } catch {
      // It is over, or nobody looks: both are known elsewhere.
    }
  }

  #hear(event: ServedEvent): void {
    const { kind } = event;
    if (CHANGES.has(kind)) this.#soon();
    if (kind === "consent_answered") this.#onConsent(String(event["provider"]), event["given"] === true);
  }

  /** Lists them in a moment, once for all that happens until then. */
  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.list().catch(() => undefined);
    }, PACE);
  }
}
