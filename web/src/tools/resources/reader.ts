/**
 * A source's resources, for hosts and for the tools that are made of them: lists, reads, subscriptions and completions.
 * @module
 */
import type { ArtifactScope, ArtifactStore, Clock } from "../../artifacts/store.js";
import { readSettings } from "../../config/check.js";
import { RESOURCES_SCHEMA } from "../../config/schema.mjs";
import type { ResourcesConfig } from "../../config/types.js";
import { untilAborted } from "../../core/abort.js";
import { ignoreErrors } from "../../mcp/interceptor-event.js";
import { userKey } from "../auth/token-store.js";
import { ToolClientError, toUnsupportedError } from "../errors.js";
import { Changes, KeyedQueue } from "../../core/keyed-work.js";
import type { ResourceEvent } from "../event.js";
import type { ToolContext } from "../context.js";
import type { SilenceListener } from "../resilience/attempt.js";
import type { SourceNotice } from "../source.js";
import { keepContents, ListCache, nameArtifact, type Reading, ResourceCache, type ResourceReading } from "./cache.js";
import {
  checkUri,
  fitResources,
  fitTemplates,
  isFitUri,
  type Listing,
  MAX_COMPLETIONS,
  MAX_OWNERS,
  MAX_SUBSCRIPTIONS,
  MAX_URI,
  MAX_WATCHED_URI,
  RENEWAL_TIME,
} from "./listing.js";
import type { ListedResource, ListedTemplate, ReadContent, ResourceConnection } from "../source-features.js";
import { templateVariables } from "./templates.js";

/**
 * Works over the caller's session, within the source's limits for attempts, time and concurrency. `resources` is
 * undefined if the source has none. With a listener, a timeout is not tried again.
 */
type UseResources = <T>(
  context: ToolContext,
  work: (resources: ResourceConnection | undefined, signal: AbortSignal) => Promise<T>,
  silence?: SilenceListener,
) => Promise<T>;

/** A list without bytes in it. */
export type GuardList = <Entry>(listed: readonly Entry[]) => Promise<readonly Entry[]>;

export interface ResourceDeps {
  /** The source's name, which prefixes its tools and the ids of its artifacts. */
  readonly namespace: string;
  readonly use: UseResources;
  /** The source's store. */
  readonly store: ArtifactStore;
  /** `resources` of the source's `artifact_extraction`. */
  readonly config?: ResourcesConfig | undefined;
  /** Takes bytes out of what the source lists. */
  readonly guardList?: GuardList | undefined;
  /** Whether each user has their own session. Defaults to false. */
  readonly isPerUser?: boolean;
  /** Called when something changes. Errors that it throws are ignored. */
  readonly onEvent?: (event: ResourceEvent) => void;
  readonly clock?: Clock;
}

/**
 * Reads a source's resources. Results are cached by scope and URI until they change or expire; with
 * `cache_reads_to_artifacts: false` every read asks the source, and short texts are not stored. Methods throw
 * ToolNodeErrors (E_TOOL_UNSUPPORTED if the source has no resources, E_TOOL_CLIENT for invalid arguments), the
 * signal's reason, and what `use` throws.
 */
export class ResourceReader {
  readonly #deps: ResourceDeps;
  readonly #config: Required<ResourcesConfig>;
  readonly #cache: ResourceCache;
  readonly #resources: ListCache<ListedResource>;
  readonly #templates: ListCache<ListedTemplate>;
  readonly #owners: Owners;
  readonly #changes: Changes<ResourceEvent>;

  constructor(deps: ResourceDeps) {
    const { store, clock = Date.now, isPerUser = false, config = {} } = deps;
    this.#deps = deps;
    this.#config = readSettings(config, RESOURCES_SCHEMA, "resources") as Required<ResourcesConfig>;
    this.#cache = new ResourceCache({
      exists: (id, scope) => store.exists(id, scope),
      keeps: this.#config.cache_reads_to_artifacts,
      sharesPublic: !isPerUser,
      clock,
    });
    this.#resources = new ListCache(clock);
    this.#templates = new ListCache(clock);
    this.#owners = new Owners(isPerUser, () => this.#forget());
    this.#changes = new Changes(ignoreErrors(deps.onEvent));
  }

  /** Lists resources. Follows pages. `silence` is told when the source takes long. */
  async listResources(context: ToolContext = {}, silence?: SilenceListener): Promise<Listing<ListedResource>> {
    return this.#resources.read(toReading(context, silence), (over, heard) =>
      this.#with(
        over,
        context,
        async (resources, signal) => fitResources(await this.#guard(await resources.list(signal))),
        heard,
      ),
    );
  }

  /** Lists templates. Follows pages. `silence` is told when the source takes long. */
  async listResourceTemplates(context: ToolContext = {}, silence?: SilenceListener): Promise<Listing<ListedTemplate>> {
    return this.#templates.read(toReading(context, silence), (over, heard) =>
      this.#with(
        over,
        context,
        async (resources, signal) => fitTemplates(await this.#guard(await resources.templates(signal))),
        heard,
      ),
    );
  }

  async #guard<Entry>(listed: readonly Entry[]): Promise<readonly Entry[]> {
    return this.#deps.guardList === undefined ? listed : this.#deps.guardList(listed);
  }

  /**
   * Reads a resource. Binary data and long texts become artifacts in the context's scope. Short texts are returned,
   * and also stored unless the configuration says otherwise.
   *
   * @param options.storesText false if the caller stores short texts itself.
   * @param options.silence told when the source takes long.
   */
  async readResource(
    uri: string,
    context: ToolContext = {},
    {
      storesText = true,
      silence,
    }: { readonly storesText?: boolean; readonly silence?: SilenceListener | undefined } = {},
  ): Promise<ResourceReading> {
    checkUri(uri);
    const { namespace, store } = this.#deps;
    const reading = toReading(context, silence);
    const inlineChars = Math.max(0, this.#config.inline_text_if_under_chars - 1);
    const result = await this.#cache.read(uri, reading, (over, heard) =>
      this.#with(
        over,
        context,
        (resources, signal) => resources.read(uri, { scope: reading.scope, inlineChars, signal }),
        heard,
      ),
    );
    return keepContents(result, {
      namespace,
      store,
      storesText: storesText && this.#config.cache_reads_to_artifacts,
      ...reading,
    });
  }

  /**
   * Creates a function for `TransformOptions.readResource`. It reads links for one call, and returns a
   * `resources/read` result in which binary data and long texts are references. The core decides which links are
   * small enough. Undefined if the configuration never reads links.
   *
   * @param timeoutSeconds limit for one read.
   * @param onRead called with each read, since the core's list of artifacts only has those it stored itself.
   */
  linkReader(
    context: ToolContext,
    timeoutSeconds: number,
    onRead?: (reading: ResourceReading) => void,
  ): ((uri: string) => Promise<unknown>) | undefined {
    const { enabled, auto_read_if_size_under_bytes: limit } = this.#config;
    if (!enabled || limit === 0) return undefined;
    return async (uri) => {
      // The caller may stop waiting without a way to say so here.
      const late = AbortSignal.timeout(timeoutSeconds * 1000);
      const signal = context.signal === undefined ? late : AbortSignal.any([context.signal, late]);
      const reading = await this.readResource(uri, { ...context, signal }, { storesText: false });
      onRead?.(reading);
      return { contents: reading.contents.map(toMcpContent) };
    };
  }

  /** Subscribes to changes of a resource. Each call needs its own `unsubscribe`. */
  async subscribe(uri: string, context: ToolContext = {}): Promise<void> {
    checkUri(uri, "uri", MAX_WATCHED_URI);
    await this.#with(context.signal, context, (resources, signal, subscriptions) =>
      subscriptions.add(uri, signal, () => resources.subscribe(uri, signal)),
    );
  }

  /** Undoes one `subscribe`. */
  async unsubscribe(uri: string, context: ToolContext = {}): Promise<void> {
    checkUri(uri);
    await this.#with(context.signal, context, (resources, signal, subscriptions) =>
      subscriptions.remove(uri, signal, () => resources.unsubscribe(uri, signal)),
    );
  }

  /** Completes a template variable, starting with `value`. */
  async complete(
    template: string,
    variable: string,
    value: string,
    context: ToolContext = {},
  ): Promise<readonly string[]> {
    if (!templateVariables(template).some(({ name }) => name === variable) || value.length > MAX_URI) {
      throw new ToolClientError(`Only variables of the template can be completed, with at most ${MAX_URI} characters.`);
    }
    const offered = await this.#with(context.signal, context, (resources, signal) =>
      resources.complete(template, variable, value, signal),
    );
    return offered.filter((each) => each.length <= MAX_URI).slice(0, MAX_COMPLETIONS);
  }

  /**
   * Handles a notification of the source: drops cached results and tells the host. Resources without subscribers are
   * not reported, and frequent changes only now and then.
   *
   * @param scope the user whose session it came from, where users have their own.
   */
  notice(notice: SourceNotice, scope?: ArtifactScope): void {
    const { namespace } = this.#deps;
    const whose = scope === undefined ? {} : { scope };
    if (notice.kind === "resource_updated" && isFitUri(notice.uri)) {
      this.#cache.invalidate(notice.uri);
      if (this.#owners.want(notice.uri)) this.#changes.tell({ kind: "updated", namespace, uri: notice.uri, ...whose });
    } else if (notice.kind === "resources_changed") {
      this.#resources.clear();
      this.#templates.clear();
      this.#changes.tell({ kind: "list_changed", namespace, ...whose });
    }
  }

  /** Drops everything, including subscriptions. Called when the source is closed. */
  close(): void {
    this.#owners.close();
    this.#changes.close();
    this.#forget();
  }

  #forget(): void {
    this.#cache.clear();
    this.#resources.clear();
    this.#templates.clear();
  }

  #with<T>(
    signal: AbortSignal | undefined,
    context: ToolContext,
    work: (resources: ResourceConnection, signal: AbortSignal, subscriptions: Subscriptions) => Promise<T>,
    silence?: SilenceListener,
  ): Promise<T> {
    const { namespace, use } = this.#deps;
    const requireResources = async (resources: ResourceConnection | undefined, over: AbortSignal): Promise<T> => {
      if (resources === undefined) {
        throw toUnsupportedError(`The source ${namespace} has no resources: call one of its tools instead.`);
      }
      return work(resources, over, this.#owners.meet(context, resources));
    };
    return use({ ...context, ...(signal !== undefined && { signal }) }, requireResources, silence);
  }
}

function toReading({ scope = {}, signal, timeoutSeconds }: ToolContext, silence?: SilenceListener): Reading {
  return { scope, signal, timeoutSeconds, silence };
}

/** The content in MCP's format, which the gate reads like any other result. */
function toMcpContent(content: ReadContent): Readonly<Record<string, unknown>> {
  const { uri, mime_type } = content;
  const type = mime_type !== null && { mimeType: mime_type };
  if (content.kind === "text") return { uri, ...type, text: content.text };
  return { uri, ...type, artifact: nameArtifact(content), summary: content.summary };
}

interface Owner {
  connection: ResourceConnection | undefined;
  readonly subscriptions: Subscriptions;
}

/** Subscriptions by session. They outlive the connections of the session. */
class Owners {
  readonly #isPerUser: boolean;
  readonly #onReplaced: () => void;
  readonly #closing = new AbortController();
  /** Least recently used first. */
  readonly #owners = new Map<string, Owner>();

  /** @param onReplaced called when a session continues over another connection: notifications may have been missed. */
  constructor(isPerUser: boolean, onReplaced: () => void) {
    this.#isPerUser = isPerUser;
    this.#onReplaced = onReplaced;
  }

  /** The subscriptions of the caller, whose session now uses this connection. */
  meet(context: ToolContext, connection: ResourceConnection): Subscriptions {
    const key = this.#isPerUser ? userKey(context) : "";
    const owner = this.#owners.get(key) ?? { connection: undefined, subscriptions: new Subscriptions() };
    this.#owners.delete(key);
    this.#owners.set(key, owner);
    this.#makeRoom();
    const before = owner.connection;
    owner.connection = connection;
    if (before !== undefined && before !== connection) {
      this.#onReplaced();
      void this.#renew(owner, connection);
    }
    return owner.subscriptions;
  }

  /** Whether anyone subscribed to a resource. */
  want(uri: string): boolean {
    for (const { subscriptions } of this.#owners.values()) if (subscriptions.has(uri)) return true;
    return false;
  }

  /** Ends all subscriptions. */
  close(): void {
    this.#closing.abort();
    this.#owners.clear();
  }

  /** Renews subscriptions on a new connection. Errors are ignored: subscribers hear nothing then. */
  async #renew({ subscriptions }: Owner, connection: ResourceConnection): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(RENEWAL_TIME)]);
    for (const uri of subscriptions.uris) {
      if (signal.aborted) return;
      await connection.subscribe(uri, signal).catch(() => undefined);
    }
  }

  #makeRoom(): void {
    for (const key of this.#owners.keys()) {
      if (this.#owners.size <= MAX_OWNERS) return;
      this.#owners.delete(key);
    }
  }
}

/** Counts subscriptions by URI. The source is asked for the first and after the last. */
export class Subscriptions {
  readonly #counts = new Map<string, number>();
  /** Subscriptions under way. The source may notify before it answers. */
  readonly #pending = new Set<string>();
  /** Runs steps for the same URI one after the other. */
  readonly #turns = new KeyedQueue();

  /** URIs with subscribers. */
  get uris(): readonly string[] {
    return [...this.#counts.keys()];
  }

  /** Whether a URI has subscribers. */
  has(uri: string): boolean {
    return this.#counts.has(uri) || this.#pending.has(uri);
  }

  /** Adds one subscription. Calls `subscribe` for the first; if it throws, nothing is counted. */
  add(uri: string, signal: AbortSignal, subscribe: () => Promise<void>): Promise<void> {
    return this.#step(uri, signal, async () => {
      const count = this.#counts.get(uri) ?? 0;
      if (count === 0) {
        if (this.#counts.size >= MAX_SUBSCRIPTIONS) throw tooMany();
        this.#pending.add(uri);
        // Steps for one URI never overlap.
        await subscribe().finally(() => this.#pending.delete(uri));
      }
      this.#counts.set(uri, count + 1);
    });
  }

  /**
   * Removes one subscription. Calls `unsubscribe` for the last, which is removed even if that throws. Does nothing
   * without one.
   */
  remove(uri: string, signal: AbortSignal, unsubscribe: () => Promise<void>): Promise<void> {
    return this.#step(uri, signal, async () => {
      const count = this.#counts.get(uri) ?? 0;
      if (count > 1) this.#counts.set(uri, count - 1);
      if (count !== 1) return;
      this.#counts.delete(uri);
      await unsubscribe();
    });
  }

  #step(uri: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const step = this.#turns.take(uri, async () => {
      signal.throwIfAborted();
      await work();
    });
    return untilAborted(step, signal);
  }
}

function tooMany(): ToolClientError {
  return new ToolClientError(
    `This session is already subscribed to ${MAX_SUBSCRIPTIONS} resources: unsubscribe from some of them.`,
  );
}
