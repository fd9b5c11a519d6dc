/**
 * Changes at a source that one MCP client hears of: of the lists, and of the resources that it subscribed to.
 * @module
 */
import { onAbort } from "../../core/abort.js";
import { objectOr } from "../../jsonrpc/rpc.js";
import { sameIdentity, type Identity } from "../session.js";
import type { ResourceEvent, ToolNodeEvent } from "../../tools/event.js";
import type { ToolContext } from "../../tools/context.js";
import type { ToolNode } from "../../tools-node.js";

interface SourceChangesDeps {
  /** Sends the client a notification. Must not throw. */
  readonly notify: (method: string, params: object) => Promise<void>;
  /** The client's user. */
  readonly identity: Identity;
}

/** What a stream of changes tells of (MCP 2026-07-28, `subscriptions/listen`). */
interface Wanted {
  /** `_meta` of its notifications. */
  readonly meta: object;
  readonly uris: readonly string[];
  readonly hasTools: boolean;
  readonly hasResources: boolean;
}

/** Most URIs of one stream. */
const MAX_URIS = 1000;

const IS_DONE = [() => true, () => false] as const;

/** Hears of changes, and passes on what the client wants to know. */
export class SourceChanges {
  readonly #deps: SourceChangesDeps;
  /** URIs that the client subscribed to, each by a request (until 2025-11-25). */
  readonly #watched = new Set<string>();
  /** Streams that the client opened (2026-07-28). */
  readonly #streams = new Set<Wanted>();
  #tellsLists = false;
  #heard: { readonly node: ToolNode; readonly forget: () => void } | undefined;

  constructor(deps: SourceChangesDeps) {
    this.#deps = deps;
  }

  /** Tells of changed lists from now on, without being asked (until 2025-11-25). */
  tellLists(): void {
    this.#tellsLists = true;
  }

  /** Listens to a connection of the source, in place of an earlier one. */
  hear(node: ToolNode): void {
    if (this.#heard?.node === node) return;
    this.#heard?.forget();
    this.#heard = { node, forget: node.listen((event) => this.#take(event)) };
  }

  /** Subscribes to a resource, until `unsubscribe`. Throws what the connection throws. */
  async subscribe(uri: string, context: ToolContext): Promise<void> {
    if (!this.#watched.has(uri)) await this.#heard?.node.subscribe(uri, context);
    this.#watched.add(uri);
  }

  /** Undoes it. Never throws: a source that is gone has no subscriptions. */
  async unsubscribe(uri: string, context: ToolContext): Promise<void> {
    if (this.#watched.delete(uri)) await this.#leave([uri], context);
  }

  /**
   * Tells of changes until the signal is aborted, by the filter that the client sent.
   *
   * @param meta `_meta` of every notification.
   */
  async stream(filter: unknown, meta: object, context: ToolContext & { readonly signal: AbortSignal }): Promise<void> {
    const { toolsListChanged, resourcesListChanged, resourceSubscriptions } = objectOr(filter);
    const uris: string[] = [];
    const asked: unknown[] = Array.isArray(resourceSubscriptions) ? resourceSubscriptions.slice(0, MAX_URIS) : [];
    for (const uri of asked) {
      // What a source does not report is left out of what is acknowledged.
      if (typeof uri !== "string") continue;
      if (await this.#heard?.node.subscribe(uri, context).then(...IS_DONE)) uris.push(uri);
    }
    const wanted = { meta, uris, hasTools: toolsListChanged === true, hasResources: resourcesListChanged === true };
    this.#streams.add(wanted);
    try {
      const notifications = {
        ...(wanted.hasTools && { toolsListChanged: true }),
        ...(wanted.hasResources && { resourcesListChanged: true }),
        ...(uris.length > 0 && { resourceSubscriptions: uris }),
      };
      await this.#deps.notify("notifications/subscriptions/acknowledged", { notifications, _meta: meta });
      const { signal } = context;
      if (!signal.aborted) await new Promise<void>((resolve) => onAbort(signal, resolve));
    } finally {
      this.#streams.delete(wanted);
      await this.#leave(uris, context);
    }
  }

  /** Ends all of it. Never throws. */
  async close(context: ToolContext): Promise<void> {
    await this.#leave([...this.#watched], context);
    this.#heard?.forget();
  }

  async #leave(uris: readonly string[], { scope }: ToolContext): Promise<void> {
    const context = scope === undefined ? {} : { scope };
    await Promise.allSettled(uris.map(async (uri) => this.#heard?.node.unsubscribe(uri, context)));
  }

  #take(event: ToolNodeEvent): void {
    if (event.kind === "tools_changed" && event.error === undefined) {
      this.#tell("notifications/tools/list_changed", {}, this.#tellsLists, ({ hasTools }) => hasTools);
    } else if (event.kind === "resource" && this.#isOwn(event.event)) {
      if (event.event.kind === "list_changed") {
        this.#tell("notifications/resources/list_changed", {}, this.#tellsLists, ({ hasResources }) => hasResources);
      } else {
        const { uri } = event.event;
        this.#tell("notifications/resources/updated", { uri }, this.#watched.has(uri), ({ uris }) =>
          uris.includes(uri),
        );
      }
    }
  }

  #tell(method: string, params: object, isTold: boolean, isWanted: (wanted: Wanted) => boolean): void {
    const { notify } = this.#deps;
    if (isTold) void notify(method, params);
    for (const wanted of this.#streams) if (isWanted(wanted)) void notify(method, { ...params, _meta: wanted.meta });
  }

  /** Whether a notice is for this user: without a scope it is for all. */
  #isOwn({ scope }: ResourceEvent): boolean {
    const { user_id, tenant_id = null } = scope ?? {};
    return scope === undefined || sameIdentity({ user_id: user_id ?? "", tenant_id }, this.#deps.identity);
  }
}
