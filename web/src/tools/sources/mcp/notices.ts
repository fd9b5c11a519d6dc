/**
 * Notifications of an MCP server. Legacy servers send them to every client, modern servers (from 2026-07-28) to
 * subscribers.
 * @module
 */
import type { Client, McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import { onAbort } from "../../../core/abort.js";
import { objectOr, stringOr } from "../../../jsonrpc/rpc.js";
import { ToolClientError } from "../../errors.js";
import { Changes, KeyedQueue } from "../../../core/keyed-work.js";
import type { SourceNotice } from "../../source.js";
import { GRACE, NO_LIMIT, settleWithin } from "./requests.js";

/** Maximum number of subscribed URIs of a connection. Every subscription request lists them all. */
const MAX_SUBSCRIBED: number = 1000;

/** Called with a notification. */
type Tell = (notice: SourceNotice) => void;

const UPDATED = "notifications/resources/updated";
const RESOURCES_CHANGED = "notifications/resources/list_changed";
const TOOLS_CHANGED = "notifications/tools/list_changed";

/** Notifications and subscriptions of one connection. */
export class Notices {
  readonly #client: Client;
  readonly #tell: Tell;
  readonly #lists: McpListener;
  readonly #watched: McpListener;
  readonly #uris = new Set<string>();
  /** Changes subscriptions one after the other. */
  readonly #turns = new KeyedQueue();
  /** Changes of the tools, which make the client list them again. */
  readonly #tools = new Changes<SourceNotice>((notice) => this.#tell(notice));

  constructor(client: Client, tell: Tell) {
    this.#client = client;
    this.#tell = tell;
    // Until `listen` is called, the client delivers notifications.
    client.setNotificationHandler(TOOLS_CHANGED, (message) => void this.#take(message));
    client.setNotificationHandler(RESOURCES_CHANGED, (message) => void this.#take(message));
    client.setNotificationHandler(UPDATED, (message) => void this.#take(message));
    const listen = (filter: SubscriptionFilter, signal: AbortSignal): Promise<McpSubscription> =>
      client.listen(filter, { signal, timeout: NO_LIMIT });
    this.#lists = new McpListener(listen, () => this.#tellLists());
    this.#watched = new McpListener(listen, () => this.#tellResources());
  }

  /** Subscribes to changes of lists, if the server requires it. Does not wait for a server that does not answer. */
  async listen(signal: AbortSignal): Promise<void> {
    // The client would be blocked while it validates tens of thousands of them.
    beforeClient(this.#client, (message) => (this.#take(message) ? undefined : message));
    const filter = this.#listFilter();
    if (!this.#isModern || Object.keys(filter).length === 0) return;
    await settleWithin(this.#lists.to(filter, signal), GRACE);
  }

  /** Subscribes to a resource. Throws what the client throws, and if the server refuses. */
  async subscribe(uri: string, signal: AbortSignal): Promise<void> {
    if (this.#client.getServerCapabilities()?.resources?.subscribe !== true) throw toUnsupportedError();
    await this.#turns.take("", async () => {
      if (this.#uris.has(uri)) return;
      if (this.#uris.size >= MAX_SUBSCRIBED) throw tooMany();
      if (this.#isModern) await this.#watch([...this.#uris, uri], uri, signal);
      else await this.#client.subscribeResource({ uri }, { signal, timeout: NO_LIMIT });
      this.#uris.add(uri);
    });
  }

  /** Unsubscribes from a resource. */
  async unsubscribe(uri: string, signal: AbortSignal): Promise<void> {
    await this.#turns.take("", async () => {
      if (!this.#uris.delete(uri)) return;
      if (this.#isModern) await this.#watch([...this.#uris], undefined, signal);
      else await this.#client.unsubscribeResource({ uri }, { signal, timeout: NO_LIMIT });
    });
  }

  /** Ends all subscriptions. */
  async close(): Promise<void> {
    this.#tools.close();
    await Promise.all([this.#lists.close(), this.#watched.close()]);
  }

  /** Reports a notification. Returns whether it was one. */
  #take({ id, method, params }: ServerMessage): boolean {
    if (id !== undefined) return false;
    if (method === TOOLS_CHANGED) this.#tools.tell({ kind: "tools_changed" });
    else if (method === RESOURCES_CHANGED) this.#tell({ kind: "resources_changed" });
    else if (method === UPDATED) this.#onUpdate(stringOr(objectOr(params)["uri"]));
    else return false;
    return true;
  }

  #onUpdate(uri: string | undefined): void {
    if (uri !== undefined) this.#tell({ kind: "resource_updated", uri });
  }

  get #isModern(): boolean {
    return this.#client.getProtocolEra() === "modern";
  }

  /** Replaces the subscriptions. The server must agree to `wanted`. */
  async #watch(uris: readonly string[], wanted: string | undefined, signal: AbortSignal): Promise<void> {
    if (uris.length === 0) return this.#watched.stop();
    await this.#watched.to({ resourceSubscriptions: [...uris] }, signal, ({ resourceSubscriptions = [] }) => {
      if (wanted !== undefined && !resourceSubscriptions.includes(wanted)) throw toUnsupportedError();
    });
  }

  #listFilter(): SubscriptionFilter {
    const { tools, resources } = this.#client.getServerCapabilities() ?? {};
    return {
      ...(tools?.listChanged === true && { toolsListChanged: true }),
      ...(resources?.listChanged === true && { resourcesListChanged: true }),
    };
  }

  /** Reports everything as changed, since notifications may have been missed. */
  #tellLists(): void {
    const { toolsListChanged, resourcesListChanged } = this.#listFilter();
    if (toolsListChanged === true) this.#tools.tell({ kind: "tools_changed" });
    if (resourcesListChanged === true) this.#tell({ kind: "resources_changed" });
  }

  #tellResources(): void {
    for (const uri of this.#uris) this.#tell({ kind: "resource_updated", uri });
  }
}

function toUnsupportedError(): ToolClientError {
  const sentence = "The server does not report changes to this resource: read it again when you need it.";
  return new ToolClientError(sentence, { code: "E_TOOL_UNSUPPORTED" });
}

function tooMany(): ToolClientError {
  return new ToolClientError(
    `The connection is subscribed to ${MAX_SUBSCRIBED} resources: unsubscribe from some of them first.`,
  );
}

/** Opens a subscription. The signal closes it. */
type Listen = (filter: SubscriptionFilter, signal: AbortSignal) => Promise<McpSubscription>;

/** Milliseconds before each attempt to subscribe again. After the last one, the connection stays unsubscribed. */
const DELAYS: readonly number[] = [500, 1000, 2000, 5000, 10_000, 30_000];

/** What is subscribed to. */
interface Current {
  readonly subscription: McpSubscription;
  readonly filter: SubscriptionFilter;
}

/** Holds one subscription, and renews it when the server ends it. */
export class McpListener {
  readonly #listen: Listen;
  readonly #onAgain: () => void;
  #current: Current | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** @param onAgain called when a subscription was renewed after a gap. */
  constructor(listen: Listen, onAgain: () => void) {
    this.#listen = listen;
    this.#onAgain = onAgain;
  }

  /** Replaces the subscription without a gap. `check` gets what the server agreed to; if it throws, nothing changes. */
  async to(
    filter: SubscriptionFilter,
    signal: AbortSignal,
    check: (honored: SubscriptionFilter) => void = () => undefined,
  ): Promise<void> {
    const subscription = await this.#open(filter, signal);
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

  /** Ends the subscription. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const before = this.#current;
    this.#current = undefined;
    await before?.subscription.close();
  }

  /** Ends the subscription for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  /** The signal only cancels the request; an open subscription outlives it. */
  async #open(filter: SubscriptionFilter, signal: AbortSignal): Promise<McpSubscription> {
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
    // The timer must not keep the process alive.
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
      // It was replaced meanwhile.
      await subscription.close();
      return;
    }
    this.#follow(subscription, gone.filter);
    this.#onAgain();
  }
}

/** A message of a server. */
export type ServerMessage = Readonly<Record<string, unknown>>;

/**
 * Intercepts messages before the client. `look` returns what the client gets, or undefined if the message is handled.
 * Does nothing if the client is not connected.
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
