/**
 * A source of resources in memory, and a reader over it: documents that change, counted reads, changes told to who subscribed.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { ToolClientError } from "../../../../web/src/tools/errors.js";
import type {
  Freshness,
  ListedResource,
  ListedTemplate,
  ReadContent,
  ReadResult,
  ResourceConnection,
} from "../../../../web/src/tools/source-features.js";
import type { SourceNotice } from "../../../../web/src/tools/source.js";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ResourceEvent } from "../../../../web/src/tools/event.js";
import { type ResourceDeps, ResourceReader } from "../../../../web/src/tools/resources/reader.js";

/** A document: text, or bytes. */
export interface Document extends Freshness {
  readonly body: string | Uint8Array;
  readonly mime_type?: string;
  /** Further contents, by URI. */
  readonly more?: Readonly<Record<string, string | Uint8Array>>;
}

type ReadOptions = Parameters<ResourceConnection["read"]>[1];

/** What was asked of it, in order. */
export interface Asked {
  readonly what: "list" | "templates" | "read" | "subscribe" | "unsubscribe" | "complete";
  readonly uri?: string;
  readonly scope?: ArtifactScope;
}

export class Library implements ResourceConnection {
  readonly documents = new Map<string, Document>();
  readonly asked: Asked[] = [];
  readonly subscribed = new Set<string>();
  listed: ListedResource[] = [];
  listedTemplates: ListedTemplate[] = [];
  /** Waited for by every request, before it is answered. */
  gate: (signal: AbortSignal) => Promise<void> = () => Promise.resolve();
  readonly #store: ArtifactStore;
  readonly #tell: (notice: SourceNotice) => void;

  constructor(store: ArtifactStore, tell: (notice: SourceNotice) => void = () => undefined) {
    this.#store = store;
    this.#tell = tell;
  }

  /** Puts a document, and tells those who subscribed to it. */
  write(uri: string, document: Document): void {
    this.documents.set(uri, document);
    if (this.subscribed.has(uri)) this.#tell({ kind: "resource_updated", uri });
  }

  /** How often something was asked for. */
  count(what: Asked["what"]): number {
    return this.asked.filter((each) => each.what === what).length;
  }

  async list(signal: AbortSignal): Promise<readonly ListedResource[]> {
    this.asked.push({ what: "list" });
    await this.gate(signal);
    return this.listed;
  }

  async templates(signal: AbortSignal): Promise<readonly ListedTemplate[]> {
    this.asked.push({ what: "templates" });
    await this.gate(signal);
    return this.listedTemplates;
  }

  async read(uri: string, reading: ReadOptions): Promise<ReadResult> {
    this.asked.push({ what: "read", uri, scope: reading.scope });
    const document = this.documents.get(uri);
    await this.gate(reading.signal);
    reading.signal.throwIfAborted();
    if (document === undefined) throw new ToolClientError("There is no such resource.");
    const { body, mime_type, more = {}, ttl_ms, cache_scope } = document;
    const contents = [await this.#content(uri, body, mime_type ?? null, reading)];
    for (const [at, each] of Object.entries(more)) contents.push(await this.#content(at, each, null, reading));
    return { contents, ...(ttl_ms !== undefined && { ttl_ms }), ...(cache_scope !== undefined && { cache_scope }) };
  }

  async subscribe(uri: string, signal: AbortSignal): Promise<void> {
    this.asked.push({ what: "subscribe", uri });
    await this.gate(signal);
    this.subscribed.add(uri);
  }

  async unsubscribe(uri: string, signal: AbortSignal): Promise<void> {
    this.asked.push({ what: "unsubscribe", uri });
    await this.gate(signal);
    this.subscribed.delete(uri);
  }

  async complete(template: string, variable: string, value: string, signal: AbortSignal): Promise<readonly string[]> {
    this.asked.push({ what: "complete", uri: template });
    await this.gate(signal);
    return ["alpha", "alps", "beta"].filter((each) => variable === "name" && each.startsWith(value));
  }

  async #content(
    uri: string,
    body: string | Uint8Array,
    mime_type: string | null,
    { scope, inlineChars }: ReadOptions,
  ): Promise<ReadContent> {
    if (typeof body === "string" && body.length <= inlineChars) return { kind: "text", uri, mime_type, text: body };
    const info = { scope, mime_type, namespace: "lib" };
    const stored = typeof body === "string" ? this.#store.putText(body, info) : this.#store.putBytes(body, info);
    const { id, size_bytes, filename } = await stored;
    return { kind: "artifact", uri, mime_type, id, size_bytes, filename, summary: `${size_bytes} bytes` };
  }
}

export const ADA: ArtifactScope = { user_id: "ada", session_id: "s1" };
export const BOB: ArtifactScope = { user_id: "bob", session_id: "s1" };
export const URI = "file:///report";

/** A reader, what it reads, and what it told. */
export interface ReaderSetup {
  readonly reader: ResourceReader;
  readonly store: ArtifactStore;
  readonly library: Library;
  readonly events: ResourceEvent[];
  /** What the source's session is over: another one stands for a source that was connected again. */
  connection: ResourceConnection | undefined;
  now: number;
}

/** `lib` is the source's name. */
export function newReader(deps: Partial<ResourceDeps> = {}): ReaderSetup {
  const { store = new MemoryArtifactStore() } = deps;
  const events: ResourceEvent[] = [];
  const reader = new ResourceReader({
    namespace: "lib",
    store,
    use: (context, work) => work(made.connection, context.signal ?? new AbortController().signal),
    clock: () => made.now,
    onEvent: (event) => events.push(event),
    ...deps,
  });
  const library = new Library(store, (notice) => reader.notice(notice));
  const made: ReaderSetup = { reader, store, library, events, connection: library, now: 0 };
  return made;
}
