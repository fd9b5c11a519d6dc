/**
 * The resources of an MCP server (MCP, "Resources").
 * @module
 */
import type { Client } from "@modelcontextprotocol/client";
import { objectOr, RpcCode, stringOr } from "../../../mcp/rpc.js";
import { subjectOf } from "../../adapting/place.js";
import { ToolClientError, ToolServerError } from "../../errors.js";
import type { ListedResource, ListedTemplate, ReadResult, ResourceConnection } from "../../resources/connection.js";
import { through } from "../body.js";
import type { ConnectionTerms } from "./connection.js";
import { marked } from "./expectation.js";
import { asked, NO_LIMIT } from "./requests.js";
import { beforeClient, type Notices, type ServerMessage } from "./notices.js";
import { readContents, type Reading } from "./read-contents.js";

/** Pages of a list that are followed. */
const MAX_PAGES: number = 1000;

/** Entries of a list behind which no further page is asked for. */
const MAX_LISTED: number = 10_000;

/** Bytes of a resource that is held as it came, at most. */
const MAX_READ = 8 * 1024 * 1024;

/** One page of a list. */
interface Page {
  readonly entries: readonly unknown[];
  readonly nextCursor?: string | undefined;
}

/** Asks a server for its resources. */
export class McpResources implements ResourceConnection {
  readonly #terms: ConnectionTerms;
  readonly #notices: Notices;

  /** The client is connected. */
  constructor(terms: ConnectionTerms, notices: Notices) {
    this.#terms = terms;
    this.#notices = notices;
    beforeClient(terms.client, withFitEntries);
  }

  /** Pages are followed until there are 10,000 entries. */
  async list(signal: AbortSignal): Promise<readonly ListedResource[]> {
    const { client } = this.#terms;
    const entries = await this.#pages(signal, async (params) => {
      const { resources, nextCursor } = await client.request(
        { method: "resources/list", params },
        { signal, timeout: NO_LIMIT },
      );
      return { entries: resources, nextCursor };
    });
    return entries.map((entry) => {
      const { uri, size } = objectOr(entry);
      return { uri: String(uri), ...said(entry), ...(typeof size === "number" && { size_bytes: size }) };
    });
  }

  /** As `list`. */
  async templates(signal: AbortSignal): Promise<readonly ListedTemplate[]> {
    const { client } = this.#terms;
    const entries = await this.#pages(signal, async (params) => {
      const list = client.request({ method: "resources/templates/list", params }, { signal, timeout: NO_LIMIT });
      const { resourceTemplates, nextCursor } = await list.catch(withoutTemplates);
      return { entries: resourceTemplates, nextCursor };
    });
    return entries.map((entry) => ({ uri_template: String(objectOr(entry)["uriTemplate"]), ...said(entry) }));
  }

  async read(uri: string, reading: Omit<Reading, "namespace">): Promise<ReadResult> {
    const { client, door, sluice, store, namespace } = this.#terms;
    const { scope, signal } = reading;
    const options = { namespace, scope, signal, dialect: "mcp", keepOriginal: MAX_READ } as const;
    const expectation = door.expect("read", options);
    const ask = async (): Promise<ReadResult> => {
      const params = { uri, _meta: marked(expectation.key) };
      const request = client.request({ method: "resources/read", params }, { signal, timeout: NO_LIMIT });
      const answer = await request.catch((error: unknown) => this.#refused(error));
      const result = door.outcome(expectation)?.gated ?? (await through(sluice, options, [JSON.stringify(answer)]));
      await using gated = result;
      const reduced = await gated.answer();
      const { original } = gated;
      const held = original && (JSON.parse(await new Blob([...original] as BlobPart[]).text()) as unknown);
      return await readContents(reduced, { ...reading, namespace }, { sluice, store }, held);
    };
    return asked({ ask, signal, expectation }, this.#terms);
  }

  async subscribe(uri: string, signal: AbortSignal): Promise<void> {
    const ask = (): Promise<void> =>
      this.#notices.subscribe(uri, signal).catch((error: unknown) => this.#refused(error));
    await asked({ ask, signal }, this.#terms);
  }

  async unsubscribe(uri: string, signal: AbortSignal): Promise<void> {
    await asked({ ask: () => this.#notices.unsubscribe(uri, signal), signal }, this.#terms);
  }

  async complete(template: string, variable: string, value: string, signal: AbortSignal): Promise<readonly string[]> {
    const { client } = this.#terms;
    if (client.getServerCapabilities()?.completions === undefined) return [];
    const ask = (): ReturnType<Client["complete"]> =>
      client.complete(
        { ref: { type: "ref/resource", uri: template }, argument: { name: variable, value } },
        { signal, timeout: NO_LIMIT },
      );
    const { completion } = await asked({ ask, signal }, this.#terms);
    return completion.values;
  }

  #pages(
    signal: AbortSignal,
    page: (params: { readonly cursor?: string }) => Promise<Page>,
  ): Promise<readonly unknown[]> {
    const ask = async (): Promise<readonly unknown[]> => {
      const all: unknown[] = [];
      const seen = new Set<string>();
      let cursor: string | undefined;
      do {
        const { entries, nextCursor } = await page(cursor === undefined ? {} : { cursor });
        for (const entry of entries) all.push(entry);
        if (nextCursor !== undefined && (seen.has(nextCursor) || seen.size >= MAX_PAGES)) throw this.#endless();
        if (nextCursor !== undefined) seen.add(nextCursor);
        cursor = nextCursor;
      } while (cursor !== undefined && all.length < MAX_LISTED);
      return all;
    };
    return asked({ ask, signal }, this.#terms);
  }

  /** Throws what the client threw, where the server does not know the URI in words about that. */
  #refused(error: unknown): never {
    const { code } = objectOr(error);
    // A well-formed URI is the only parameter: servers that refuse it with the second code do not have the resource.
    if (code !== RpcCode.resourceNotFound && code !== RpcCode.invalidParams) throw error;
    const subject = subjectOf({ source: this.#terms.name });
    const remedy = "check the URI, or list the resources again";
    const sentence = `${subject} has no resource with this URI (JSON-RPC ${code}): ${remedy}.`;
    throw new ToolClientError(sentence, { isNotFound: true });
  }

  #endless(): ToolServerError {
    const subject = subjectOf({ source: this.#terms.name });
    return new ToolServerError(`${subject} lists its resources without an end: see the server's own log.`, {
      category: "non_retryable",
    });
  }
}

/** What lists say of an entry. */
function said(entry: unknown): { name: string; title?: string; description?: string; mime_type?: string } {
  const { name, title, description, mimeType } = objectOr(entry);
  const texts = { title: stringOr(title), description: stringOr(description), mime_type: stringOr(mimeType) };
  const known = Object.entries(texts).filter((each): each is [string, string] => each[1] !== undefined);
  return { name: stringOr(name) ?? "", ...Object.fromEntries(known) };
}

/** Servers with resources need not have templates of them. */
function withoutTemplates(error: unknown): { readonly resourceTemplates: []; readonly nextCursor?: string } {
  if (objectOr(error)["code"] === RpcCode.methodNotFound) return { resourceTemplates: [] };
  throw error;
}

/** Members of an entry that are read, beside what it is known by. */
const TEXTS = ["title", "description", "mimeType"] as const;

/** What lists are called, and what their entries are known by. */
const LISTS = [
  ["resources", "uri"],
  ["resourceTemplates", "uriTemplate"],
] as const;

/** Entries of one page that are kept account of. */
const MAX_ENTRIES = 100_000;

/**
 * A message as it is, or with lists that a client takes. Of each entry only what is read is left; one that lacks something,
 * or has it in a wrong type, becomes one without a URI, which is left out and counted like any other that cannot be shown.
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
  };
}
