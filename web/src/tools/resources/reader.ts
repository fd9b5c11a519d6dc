/**
 * A source's resources, for hosts and for the tools made of them (RFC 0.3 §5.7).
 * @module
 */
import type { ArtifactScope, ArtifactStore, Clock } from "../../artifacts/store.js";
import type { ResourcesConfig } from "../../core/config.js";
import { heedless } from "../../mcp/door-event.js";
import type { ToolContext } from "../context.js";
import { ToolClientError } from "../errors.js";
import { unsupported } from "../problem.js";
import type { SourceNotice } from "../source.js";
import { ListCache, type Reading, ResourceCache } from "./cache.js";
import type { ListedResource, ListedTemplate, ReadContent, ResourceConnection } from "./connection.js";
import { contentsOf, namedArtifact, type ResourceReading } from "./contents.js";
import type { ResourceEvent } from "../event.js";
import { MAX_COMPLETIONS, MAX_URI, MAX_WATCHED_URI } from "./limits.js";
import { checkUri, fitResources, fitTemplates, isFitUri, type Listing } from "./listed.js";
import { Changes, Owners, type Subscriptions } from "./subscriptions.js";
import { templateVariables } from "./templates.js";

/**
 * Does work over the session of whoever calls, within the source's limits: attempts, time, calls at a time. `resources`
 * is undefined where the source has none.
 */
type UseResources = <T>(
  context: ToolContext,
  work: (resources: ResourceConnection | undefined, signal: AbortSignal) => Promise<T>,
) => Promise<T>;

/** What a reader is made of. */
export interface ResourceTerms {
  /** The source's name: prefix of its tools and of its artifacts' ids. */
  readonly namespace: string;
  readonly use: UseResources;
  /** Where the source's artifacts go. */
  readonly store: ArtifactStore;
  /** As in the source's `artifact_extraction`. */
  readonly config?: ResourcesConfig | undefined;
  /** Whether each user has a session of their own; false when left out. */
  readonly isPerUser?: boolean;
  /** Told of changes. What it throws is its own affair. */
  readonly onEvent?: (event: ResourceEvent) => void;
  readonly clock?: Clock;
}

/** Characters below which a text stays a text, unless the configuration says otherwise (RFC 0.3 §4.2). */
const INLINE_CHARS = 10_000;

/**
 * Reads what a source has beside tools. Results are kept by scope and URI until the source says that they changed or
 * their time is over; with `cache_reads_to_artifacts: false` every read asks the source, and short texts are not stored.
 * Everything throws ToolNodeErrors: E_TOOL_UNSUPPORTED where the source has no resources, E_TOOL_CLIENT for what nobody
 * can be asked; the signal's reason when the context's signal is aborted; and what `use` throws.
 */
export class ResourceReader {
  readonly #terms: ResourceTerms;
  readonly #keeps: boolean;
  readonly #cache: ResourceCache;
  readonly #resources: ListCache<ListedResource>;
  readonly #templates: ListCache<ListedTemplate>;
  readonly #owners: Owners;
  readonly #changes: Changes;

  constructor(terms: ResourceTerms) {
    const { store, clock = Date.now, isPerUser = false, config = {} } = terms;
    this.#terms = terms;
    this.#keeps = config.cache_reads_to_artifacts ?? true;
    this.#cache = new ResourceCache({
      exists: (id, scope) => store.exists(id, scope),
      keeps: this.#keeps,
      sharesPublic: !isPerUser,
      clock,
    });
    this.#resources = new ListCache(clock);
    this.#templates = new ListCache(clock);
    this.#owners = new Owners(isPerUser, () => this.#forget());
    this.#changes = new Changes(heedless(terms.onEvent));
  }

  /** What the source lists, all of its pages. */
  async listResources(context: ToolContext = {}): Promise<Listing<ListedResource>> {
    return this.#resources.read(readingOf(context), (over) =>
      this.#with(over, context, async (resources, signal) => fitResources(await resources.list(signal))),
    );
  }

  /** The templates that it lists, all of its pages. */
  async listResourceTemplates(context: ToolContext = {}): Promise<Listing<ListedTemplate>> {
    return this.#templates.read(readingOf(context), (over) =>
      this.#with(over, context, async (resources, signal) => fitTemplates(await resources.templates(signal))),
    );
  }

  /**
   * Reads a resource, every content of it: bytes and long texts as artifacts of the context's scope, a short text as it
   * is, and stored too unless the configuration says otherwise.
   *
   * @param options.storesText false for whoever stores short texts itself.
   */
  async readResource(
    uri: string,
    context: ToolContext = {},
    { storesText = true }: { readonly storesText?: boolean } = {},
  ): Promise<ResourceReading> {
    checkUri(uri);
    const { namespace, store, config } = this.#terms;
    const reading = readingOf(context);
    const inlineChars = Math.max(0, (config?.inline_text_if_under_chars ?? INLINE_CHARS) - 1);
    const result = await this.#cache.read(uri, reading, (over) =>
      this.#with(over, context, (resources, signal) =>
        resources.read(uri, { scope: reading.scope, inlineChars, signal }),
      ),
    );
    return contentsOf(result, { namespace, store, storesText: storesText && this.#keeps, ...reading });
  }

  /**
   * A function that reads links for one call and gives a `resources/read` result whose bytes and long texts are references
   * already (RFC 0.3 §4.3): what `TransformOptions.readResource` is given. Undefined where the configuration never lets a
   * link be read. Which links are small enough decides the core.
   *
   * @param timeoutSeconds how long one read may take.
   * @param onRead told of what was read, before the result that the link stands in is finished: the core's list of artifacts
   * has only what it stored by itself.
   */
  linkReader(
    context: ToolContext,
    timeoutSeconds: number,
    onRead?: (reading: ResourceReading) => void,
  ): ((uri: string) => Promise<unknown>) | undefined {
    const { config } = this.#terms;
    if (config?.enabled === false || (config?.auto_read_if_size_under_bytes ?? 0) === 0) return undefined;
    return async (uri) => {
      // Whoever waits for the result may have given up long ago, and cannot say so here.
      const late = AbortSignal.timeout(timeoutSeconds * 1000);
      const signal = context.signal === undefined ? late : AbortSignal.any([context.signal, late]);
      const reading = await this.readResource(uri, { ...context, signal }, { storesText: false });
      onRead?.(reading);
      return { contents: reading.contents.map(linked) };
    };
  }

  /** Asks the source to tell of a resource's changes; as often as it was asked, it has to be asked to stop. */
  async subscribe(uri: string, context: ToolContext = {}): Promise<void> {
    checkUri(uri, "uri", MAX_WATCHED_URI);
    await this.#with(context.signal, context, (resources, signal, subscriptions) =>
      subscriptions.add(uri, signal, () => resources.subscribe(uri, signal)),
    );
  }

  /** Takes one asking back. */
  async unsubscribe(uri: string, context: ToolContext = {}): Promise<void> {
    checkUri(uri);
    await this.#with(context.signal, context, (resources, signal, subscriptions) =>
      subscriptions.remove(uri, signal, () => resources.unsubscribe(uri, signal)),
    );
  }

  /** Values that the source offers for a variable of a template, beginning with what is written of it. */
  async complete(
    template: string,
    variable: string,
    value: string,
    context: ToolContext = {},
  ): Promise<readonly string[]> {
    if (!templateVariables(template).some(({ name }) => name === variable) || value.length > MAX_URI) {
      throw new ToolClientError(`Only variables of the template can be completed, of at most ${MAX_URI} characters.`);
    }
    const offered = await this.#with(context.signal, context, (resources, signal) =>
      resources.complete(template, variable, value, signal),
    );
    return offered.filter((each) => each.length <= MAX_URI).slice(0, MAX_COMPLETIONS);
  }

  /**
   * Takes a notice of the source's: forgets what it makes old, and tells the host. Of a resource that nobody subscribed to
   * nothing is told, and of one that changes all the time only now and then.
   *
   * @param scope whose session it came from, where users have sessions of their own.
   */
  notice(notice: SourceNotice, scope?: ArtifactScope): void {
    const { namespace } = this.#terms;
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

  /** Forgets everything, subscriptions included: for a source that is closed. */
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
  ): Promise<T> {
    const { namespace, use } = this.#terms;
    return use({ ...context, ...(signal !== undefined && { signal }) }, async (resources, over) => {
      if (resources === undefined) {
        throw unsupported(`The source ${namespace} has no resources: call one of its tools instead.`);
      }
      return work(resources, over, this.#owners.meet(context, resources));
    });
  }
}

function readingOf({ scope = {}, signal }: ToolContext): Reading {
  return { scope, signal };
}

/** In the words of the wire, where there are such: the gate reads it like any other result. */
function linked(content: ReadContent): Readonly<Record<string, unknown>> {
  const { uri, mime_type } = content;
  const type = mime_type !== null && { mimeType: mime_type };
  if (content.kind === "text") return { uri, ...type, text: content.text };
  return { uri, ...type, artifact: namedArtifact(content), summary: content.summary };
}
