/**
 * What a server says unasked, in both eras: until 2025-11-25 it says it to everybody who is connected, since 2026-07-28 to
 * whoever listens.
 * @module
 */
import type { Client, McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import { onAbort } from "../../../core/abort.js";
import { objectOr, stringOr } from "../../../mcp/rpc.js";
import { ToolClientError } from "../../errors.js";
import type { SourceNotice } from "../../source.js";
import { GRACE, NO_LIMIT, patiently } from "./requests.js";

/** URIs that one connection subscribes to: each stands in every request for changes. */
const MAX_SUBSCRIBED: number = 1000;

/** Told of what a server says. */
type Tell = (notice: SourceNotice) => void;

/** Milliseconds in which a server is heard once, and once more at their end, saying that its tools changed. */
const PAUSE = 100;

const UPDATED = "notifications/resources/updated";
const RESOURCES_CHANGED = "notifications/resources/list_changed";
const TOOLS_CHANGED = "notifications/tools/list_changed";

/** One connection's notices and subscriptions. */
export class Notices {
  readonly #client: Client;
  readonly #tell: Tell;
  readonly #lists: Listening;
  readonly #watched: Listening;
  readonly #uris = new Set<string>();
  /** One change of the subscriptions after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Runs for a while after the tools changed. */
  #toolsTimer: ReturnType<typeof setTimeout> | undefined;
  #toolsChangedAgain = false;

  constructor(client: Client, tell: Tell) {
    this.#client = client;
    this.#tell = tell;
    // What comes before `listen` comes by the client.
    client.setNotificationHandler(TOOLS_CHANGED, (message) => void this.#take(message));
    client.setNotificationHandler(RESOURCES_CHANGED, (message) => void this.#take(message));
    client.setNotificationHandler(UPDATED, (message) => void this.#take(message));
    const listen = (filter: SubscriptionFilter, signal: AbortSignal): Promise<McpSubscription> =>
      client.listen(filter, { signal, timeout: NO_LIMIT });
    this.#lists = new Listening(listen, () => this.#tellLists());
    this.#watched = new Listening(listen, () => this.#tellResources());
  }

  /** Listens to changes of lists, where that has to be said. A server that does not answer is not waited for. */
  async listen(signal: AbortSignal): Promise<void> {
    // A client that checks tens of thousands of them answers nobody meanwhile.
    beforeClient(this.#client, (message) => (this.#take(message) ? undefined : message));
    const filter = this.#listFilter();
    if (!this.#isModern || Object.keys(filter).length === 0) return;
    await patiently(this.#lists.to(filter, signal), GRACE);
  }

  /** Asks to be told when a resource changes. Throws what the client throws, and where the server will not tell. */
  async subscribe(uri: string, signal: AbortSignal): Promise<void> {
    if (this.#client.getServerCapabilities()?.resources?.subscribe !== true) throw unsupported();
    await this.#inTurn(async () => {
      if (this.#uris.has(uri)) return;
      if (this.#uris.size >= MAX_SUBSCRIBED) throw tooMany();
      if (this.#isModern) await this.#watch([...this.#uris, uri], uri, signal);
      else await this.#client.subscribeResource({ uri }, { signal, timeout: NO_LIMIT });
      this.#uris.add(uri);
    });
  }

  /** Asks no longer. */
  async unsubscribe(uri: string, signal: AbortSignal): Promise<void> {
    await this.#inTurn(async () => {
      if (!this.#uris.delete(uri)) return;
      if (this.#isModern) await this.#watch([...this.#uris], undefined, signal);
      else await this.#client.unsubscribeResource({ uri }, { signal, timeout: NO_LIMIT });
    });
  }

  /** Listens no longer. */
  async close(): Promise<void> {
    clearTimeout(this.#toolsTimer);
    await Promise.all([this.#lists.close(), this.#watched.close()]);
  }

  /** Whether it is a notice that somebody may want to know of: then it is told. */
  #take({ id, method, params }: ServerMessage): boolean {
    if (id !== undefined) return false;
    if (method === TOOLS_CHANGED) this.#toolsChanged();
    else if (method === RESOURCES_CHANGED) this.#tell({ kind: "resources_changed" });
    else if (method === UPDATED) this.#updated(stringOr(objectOr(params)["uri"]));
    else return false;
    return true;
  }

  #updated(uri: string | undefined): void {
    if (uri !== undefined) this.#tell({ kind: "resource_updated", uri });
  }

  /** Each time that it is told the tools are listed again. */
  #toolsChanged(): void {
    if (this.#toolsTimer !== undefined) {
      this.#toolsChangedAgain = true;
      return;
    }
    this.#tell({ kind: "tools_changed" });
    this.#toolsTimer = setTimeout(() => {
      this.#toolsTimer = undefined;
      const again = this.#toolsChangedAgain;
      this.#toolsChangedAgain = false;
      if (again) this.#toolsChanged();
    }, PAUSE);
    // Nobody's process lives on for this.
    (this.#toolsTimer as { unref?: () => void }).unref?.();
  }

  get #isModern(): boolean {
    return this.#client.getProtocolEra() === "modern";
  }

  /** Listens to these in place of those before. `wanted` must be among what the server agrees to. */
  async #watch(uris: readonly string[], wanted: string | undefined, signal: AbortSignal): Promise<void> {
    if (uris.length === 0) return this.#watched.stop();
    await this.#watched.to({ resourceSubscriptions: [...uris] }, signal, ({ resourceSubscriptions = [] }) => {
      if (wanted !== undefined && !resourceSubscriptions.includes(wanted)) throw unsupported();
    });
  }

  #listFilter(): SubscriptionFilter {
    const { tools, resources } = this.#client.getServerCapabilities() ?? {};
    return {
      ...(tools?.listChanged === true && { toolsListChanged: true }),
      ...(resources?.listChanged === true && { resourcesListChanged: true }),
    };
  }

  /** What changed while nobody listened is not known. */
  #tellLists(): void {
    const { toolsListChanged, resourcesListChanged } = this.#listFilter();
    if (toolsListChanged === true) this.#toolsChanged();
    if (resourcesListChanged === true) this.#tell({ kind: "resources_changed" });
  }

  #tellResources(): void {
    for (const uri of this.#uris) this.#tell({ kind: "resource_updated", uri });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

function unsupported(): ToolClientError {
  const sentence = "The server does not tell of changes to this resource: read it again when it matters.";
  return new ToolClientError(sentence, { code: "E_TOOL_UNSUPPORTED" });
}

function tooMany(): ToolClientError {
  return new ToolClientError(
    `The connection is subscribed to ${MAX_SUBSCRIBED} resources: unsubscribe from some of them first.`,
  );
}

/** Opens a subscription; the signal ends it. */
type Listen = (filter: SubscriptionFilter, signal: AbortSignal) => Promise<McpSubscription>;

/** Milliseconds before each attempt at listening again; behind the last one nobody listens any more. */
const DELAYS: readonly number[] = [500, 1000, 2000, 5000, 10_000, 30_000];

/** What is listened to. */
interface Current {
  readonly subscription: McpSubscription;
  readonly filter: SubscriptionFilter;
}

/** Listens to one filter at a time, and again when the server ends it. */
export class Listening {
  readonly #listen: Listen;
  readonly #onAgain: () => void;
  #current: Current | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** `onAgain` is called when it is listened to again, after a while in which nobody did. */
  constructor(listen: Listen, onAgain: () => void) {
    this.#listen = listen;
    this.#onAgain = onAgain;
  }

  /**
   * Listens to a filter in place of the one before, without a gap. `check` sees what the server agrees to; what it throws
   * leaves everything as it was.
   */
  async to(
    filter: SubscriptionFilter,
    signal: AbortSignal,
    check: (honored: SubscriptionFilter) => void = () => undefined,
  ): Promise<void> {
    const subscription = await this.#opened(filter, signal);
    try {
      check(subscription.honoredFilter);
    } catch (error) {
      await subscription.close();
      throw error;
    }
    if (this.#isClosed) return subscription.close();
    const before = this.#current;
    this.#follow(subscription, filter);
    await before?.subscription.close();
  }

  /** Listens to nothing. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const before = this.#current;
    this.#current = undefined;
    await before?.subscription.close();
  }

  /** Listens to nothing, now and later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  /** The signal is that of the request for it: what is open outlives it. */
  async #opened(filter: SubscriptionFilter, signal: AbortSignal): Promise<McpSubscription> {
    const opening = new AbortController();
    signal.throwIfAborted();
    const forget = onAbort(signal, () => opening.abort(signal.reason));
    try {
      return await this.#listen(filter, opening.signal);
    } finally {
      forget();
    }
  }

  #follow(subscription: McpSubscription, filter: SubscriptionFilter): void {
    clearTimeout(this.#timer);
    this.#current = { subscription, filter };
    void this.#watch(this.#current);
  }

  async #watch(current: Current): Promise<void> {
    const how = await current.subscription.closed;
    if (how !== "local" && this.#current === current) this.#wait(current, 0);
  }

  #wait(gone: Current, attempt: number): void {
    const delay = DELAYS[attempt];
    if (this.#isClosed || delay === undefined) return;
    this.#timer = setTimeout(() => void this.#again(gone, attempt), delay);
    // Nobody's process lives on for this.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #again(gone: Current, attempt: number): Promise<void> {
    let subscription: McpSubscription;
    try {
      subscription = await this.#listen(gone.filter, new AbortController().signal);
    } catch {
      if (this.#current === gone) this.#wait(gone, attempt + 1);
      return;
    }
    if (this.#isClosed || this.#current !== gone) {
      // Somebody listens to something else by now.
      await subscription.close();
      return;
    }
    this.#follow(subscription, gone.filter);
    this.#onAgain();
  }
}

/** A message of a server's, whatever it is. */
export type ServerMessage = Readonly<Record<string, unknown>>;

/**
 * Looks at each message from now on. `look` gives what the client gets in its place; undefined: the message is dealt with.
 * Does nothing where the client is not connected.
 */
export function beforeClient(client: Client, look: (message: ServerMessage) => ServerMessage | undefined): void {
  const { transport } = client;
  const take = transport?.onmessage;
  if (transport === undefined || take === undefined) return;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has none
  transport.onmessage = (message, extra) => {
    const seen = objectOr(message);
    const next = look(seen);
    if (next === seen) take(message, extra);
    else if (next !== undefined) take(next as typeof message, extra);
  };
}
