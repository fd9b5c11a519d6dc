/**
 * The resources of an MCP server (MCP, "Resources").
 * @module
 */
import type { Client, Resource } from "@modelcontextprotocol/client";
import { objectOr, RpcCode } from "../../../jsonrpc/rpc.js";
import { badAnswer, toSubject, ToolClientError } from "../../errors.js";
import type { ListedResource, ListedTemplate, ReadResult, ResourceConnection } from "../../source-features.js";
import { through } from "../gated.js";
import { NO_LIMIT, type RequestDeps, requestMark, sendRequest } from "./requests.js";
import { beforeClient, type Notices, type ServerMessage } from "./notices.js";
import { readContents, type Reading } from "./read-contents.js";
import type { MessageDeps } from "./messages.js";
import type { ToolInterceptor } from "./tool-interceptor.js";

/** Maximum pages of a list. */
const MAX_PAGES: number = 1000;

/** Number of entries after which no further page is requested. */
const MAX_LISTED: number = 10_000;

/** Maximum bytes of a resource that is also kept in its original form. */
const MAX_READ = 8 * 1024 * 1024;

/** One page of a list. */
interface Page<T> {
  readonly entries: readonly T[];
  readonly nextCursor?: string | undefined;
}

/** What resources are read with. */
interface ResourcesDeps extends RequestDeps, MessageDeps {
  readonly interceptor: Pick<ToolInterceptor, "expect" | "outcome" | "release">;
}

/** The resources of a connected server. */
export class McpResources implements ResourceConnection {
  readonly #deps: ResourcesDeps;
  readonly #notices: Notices;

  /** Requires a connected client. */
  constructor(deps: ResourcesDeps, notices: Notices) {
    this.#deps = deps;
    this.#notices = notices;
    beforeClient(deps.client, withFitEntries);
  }

  /** Follows pages up to 10,000 entries. */
  async list(signal: AbortSignal): Promise<readonly ListedResource[]> {
    const { client } = this.#deps;
    const listed = await allPages(this.#deps, "resources", signal, async (params) => {
      const list = client.request({ method: "resources/list", params }, { signal, timeout: NO_LIMIT });
      const { resources: entries, nextCursor } = await list;
      return { entries, nextCursor };
    });
    return listed.map(({ uri, size, ...about }) => ({
      uri,
      ...describeResource(about),
      ...(size !== undefined && { size_bytes: size }),
    }));
  }

  /** Like `list`. */
  async templates(signal: AbortSignal): Promise<readonly ListedTemplate[]> {
    const { client } = this.#deps;
    const listed = await allPages(this.#deps, "resources", signal, async (params) => {
      const list = client.request({ method: "resources/templates/list", params }, { signal, timeout: NO_LIMIT });
      const { resourceTemplates: entries, nextCursor } = await list.catch(withoutTemplates);
      return { entries, nextCursor };
    });
    return listed.map(({ uriTemplate, ...about }) => ({ uri_template: uriTemplate, ...describeResource(about) }));
  }

  async read(uri: string, reading: Omit<Reading, "namespace">): Promise<ReadResult> {
    const { client, interceptor, sluice, store, namespace } = this.#deps;
    const { scope, signal } = reading;
    const options = { namespace, scope, signal, dialect: "mcp", keepOriginal: MAX_READ } as const;
    const pendingResult = interceptor.expect("read", options);
    const ask = async (): Promise<ReadResult> => {
      const params = { uri, _meta: requestMark(pendingResult.key) };
      const request = client.request({ method: "resources/read", params }, { signal, timeout: NO_LIMIT });
      const answer = await request.catch((error: unknown) => this.#refuse(error));
      const result =
        interceptor.outcome(pendingResult)?.gated ?? (await through(sluice, options, [JSON.stringify(answer)]));
      await using gated = result;
      const reduced = await gated.answer();
      const { original } = gated;
      const held = original && (JSON.parse(await new Blob([...original] as BlobPart[]).text()) as unknown);
      return await readContents(reduced, { ...reading, namespace }, { sluice, store }, held);
    };
    return sendRequest({ ask, signal, pendingResult }, this.#deps);
  }

  async subscribe(uri: string, signal: AbortSignal): Promise<void> {
    const ask = (): Promise<void> =>
      this.#notices.subscribe(uri, signal).catch((error: unknown) => this.#refuse(error));
    await sendRequest({ ask, signal }, this.#deps);
  }

  async unsubscribe(uri: string, signal: AbortSignal): Promise<void> {
    await sendRequest({ ask: () => this.#notices.unsubscribe(uri, signal), signal }, this.#deps);
  }

  async complete(template: string, variable: string, value: string, signal: AbortSignal): Promise<readonly string[]> {
    const { client } = this.#deps;
    if (client.getServerCapabilities()?.completions === undefined) return [];
    const ask = (): ReturnType<Client["complete"]> =>
      client.complete(
        { ref: { type: "ref/resource", uri: template }, argument: { name: variable, value } },
        { signal, timeout: NO_LIMIT },
      );
    const { completion } = await sendRequest({ ask, signal }, this.#deps);
    return completion.values;
  }

  /** Throws the client's error, or a clearer one if the server does not know the URI. */
  #refuse(error: unknown): never {
    const { code } = objectOr(error);
    // The URI is the only parameter: some servers answer "invalid params" for an unknown one.
    if (code !== RpcCode.resourceNotFound && code !== RpcCode.invalidParams) throw error;
    const subject = toSubject({ source: this.#deps.name });
    const remedy = "check the URI, or list the resources again";
    const sentence = `${subject} has no resource with this URI (JSON-RPC ${code}): ${remedy}.`;
    throw new ToolClientError(sentence, { isNotFound: true });
  }
}

/**
 * All entries of a list, of its pages up to 10,000 entries.
 *
 * @param what what is listed, for the error of a list without an end.
 */
export function allPages<T>(
  deps: RequestDeps,
  what: string,
  signal: AbortSignal,
  page: (params: { readonly cursor?: string }) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const ask = async (): Promise<readonly T[]> => {
    const all: T[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const { entries, nextCursor } = await page(cursor === undefined ? {} : { cursor });
      for (const entry of entries) all.push(entry);
      if (nextCursor !== undefined && (seen.has(nextCursor) || seen.size >= MAX_PAGES)) {
        throw badAnswer({ source: deps.name }, `lists its ${what} endlessly`, "see the server's own log");
      }
      if (nextCursor !== undefined) seen.add(nextCursor);
      cursor = nextCursor;
    } while (cursor !== undefined && all.length < MAX_LISTED);
    return all;
  };
  return sendRequest({ ask, signal }, deps);
}

/** The common members of an entry. `withFitEntries` has removed all others, and those that are no texts. */
function describeResource({ name, title, description, mimeType }: Omit<Resource, "uri">): Omit<ListedResource, "uri"> {
  const texts = Object.entries({ title, description, mime_type: mimeType });
  return { name, ...Object.fromEntries(texts.filter(([, text]) => text !== undefined)) };
}

/** Servers with resources may have no templates. */
function withoutTemplates(error: unknown): { readonly resourceTemplates: []; readonly nextCursor?: string } {
  if (objectOr(error)["code"] === RpcCode.methodNotFound) return { resourceTemplates: [] };
  throw error;
}

/** Members of an entry that are read, beside its key. */
const TEXTS = ["title", "description", "mimeType"] as const;

/** The lists, and the keys of their entries. */
const LISTS = [
  ["resources", "uri"],
  ["resourceTemplates", "uriTemplate"],
] as const;

/** The member of `_meta` that carries an entry of a list past the client. */
export const ENTRY = "sluice/entry";

/** The result of a request with the entries of its lists as the server wrote them. */
export function restoreEntries(result: ServerMessage): ServerMessage {
  const lists = LISTS.map(([list]) => list).filter((list) => Array.isArray(result[list]));
  if (lists.length === 0) return result;
  const entries = lists.map((list) => [list, (result[list] as unknown[]).map(restoreEntry)] as const);
  return { ...result, ...Object.fromEntries(entries) };
}

function restoreEntry(entry: unknown): unknown {
  const { [ENTRY]: given = entry } = objectOr(objectOr(entry)["_meta"]);
  return given;
}

/** Maximum entries of one page that are tracked. */
const MAX_ENTRIES = 100_000;

/**
 * Replaces lists by ones that the client accepts. Keeps only the members that are read. Invalid entries get an empty
 * URI, and are later left out and counted.
 */
function withFitEntries(message: ServerMessage): ServerMessage {
  const result = objectOr(message["result"]);
  for (const [list, key] of LISTS) {
    const entries = result[list];
    if (!Array.isArray(entries)) continue;
    const fit = entries.slice(0, MAX_ENTRIES).map((entry: unknown) => fitEntry(entry, key) ?? { [key]: "", name: "" });
    return { ...message, result: { ...result, [list]: fit } };
  }
  return message;
}

function fitEntry(entry: unknown, key: string): ServerMessage | undefined {
  const given = objectOr(entry);
  const { name, size } = given;
  if (typeof given[key] !== "string" || typeof name !== "string") return undefined;
  if (size !== undefined && !Number.isFinite(size)) return undefined;
  const texts = TEXTS.filter((text) => given[text] !== undefined);
  if (texts.some((text) => typeof given[text] !== "string")) return undefined;
  return {
    [key]: given[key],
    name,
    ...Object.fromEntries(texts.map((text) => [text, given[text]])),
    ...(size !== undefined && { size }),
    _meta: { [ENTRY]: entry },
  };
}
