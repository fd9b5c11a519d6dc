/**
 * One connection to an MCP server: one client, one door, tools and resources.
 * @module
 */
import type { Client, ProgressCallback } from "@modelcontextprotocol/client";
import type { TransformOptions } from "../../../core/sluice.js";
import type { ResourceConnection } from "../../resources/connection.js";
import type {
  OpenOptions,
  SourceCall,
  SourceConnection,
  SourceNotice,
  SourceResult,
  SourceTool,
} from "../../source.js";
import { MAX_MESSAGE } from "../../../transports/limits.js";
import { subjectOf, type ToolPlace } from "../../adapting/place.js";
import { ToolClientError } from "../../errors.js";
import { asked } from "./asking.js";
import { GRACE, NO_LIMIT } from "./limits.js";
import { marked } from "./marker.js";
import { Notices } from "./notices.js";
import { patiently } from "./patience.js";
import { McpResources } from "./resources.js";
import type { McpTerms, OpenedTransport } from "./terms.js";
import type { ToolDoor } from "./tool-door.js";

/** What a connection is made of. */
export interface ConnectionTerms extends Omit<McpTerms, "client"> {
  /** Prefix of artifacts' ids. */
  readonly namespace: string;
  readonly client: Client;
  readonly door: ToolDoor;
  readonly opened: OpenedTransport;
}

/** A server, connected. */
export class McpConnection implements SourceConnection {
  readonly #terms: ConnectionTerms;
  readonly #notices: Notices;
  #resources: ResourceConnection | undefined;
  #isOpen = true;

  /** Before the client is connected, so that nothing that the server says is lost. */
  constructor(terms: ConnectionTerms, { onNotice }: Pick<OpenOptions, "onNotice">) {
    this.#terms = terms;
    this.#notices = new Notices(terms.client, (notice: SourceNotice) => {
      if (this.#isOpen) onNotice(notice);
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has none
    terms.client.onclose = () => {
      this.#isOpen = false;
    };
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#terms.opened.isLost?.() !== true;
  }

  get resources(): ResourceConnection | undefined {
    return this.#resources;
  }

  /** The client is connected: hears from now on what the server says unasked. */
  async begin(signal: AbortSignal): Promise<void> {
    if (this.#terms.client.getServerCapabilities()?.resources !== undefined) {
      this.#resources = new McpResources(this.#terms, this.#notices);
    }
    await this.#notices.listen(signal);
  }

  async tools(signal: AbortSignal): Promise<readonly SourceTool[]> {
    const { client } = this.#terms;
    // The client would say on the console that there are none.
    if (client.getServerCapabilities()?.tools === undefined) return [];
    const ask = (): ReturnType<Client["listTools"]> =>
      client.listTools(undefined, { signal, timeout: NO_LIMIT, cacheMode: "refresh" });
    const { tools } = await asked({ ask, signal }, this.#terms);
    return tools.map(({ name, description = "", inputSchema, outputSchema, annotations }) => ({
      name,
      description,
      input_schema: inputSchema,
      ...(outputSchema !== undefined && { output_schema: outputSchema }),
      isRepeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
      isReadOnly: annotations?.readOnlyHint === true,
    }));
  }

  async call(call: SourceCall): Promise<SourceResult> {
    const { tool, args, signal, onProgress } = call;
    const { client, door, sluice, name } = this.#terms;
    const options = this.#optionsOf(call);
    if (JSON.stringify(args).length > MAX_MESSAGE) throw tooLarge({ source: name, tool });
    const expectation = door.expect("call", options);
    const ask = async (): Promise<SourceResult> => {
      const answer = await client.callTool(
        { name: tool, arguments: { ...args }, _meta: marked(expectation.key) },
        { signal, timeout: NO_LIMIT, ...(onProgress !== undefined && { onprogress: onProgress as ProgressCallback }) },
      );
      const outcome = await door.outcome(expectation);
      // It came past the door: under an id that only the client takes for that of the request.
      return outcome ?? { reduced: await sluice.transform(answer, options), isError: answer.isError === true };
    };
    return asked({ ask, signal, tool, expectation }, this.#terms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    const { client, opened } = this.#terms;
    await patiently(Promise.all([this.#notices.close(), opened.leave?.()]), GRACE);
    await client.close().catch(() => undefined);
    // A client that was never connected knows of no transport.
    await opened.transport.close().catch(() => undefined);
  }

  #optionsOf({ tool, dialect, scope, signal, readResource }: SourceCall): TransformOptions {
    const { namespace, showImages = false } = this.#terms;
    return {
      tool,
      namespace,
      dialect,
      scope,
      signal,
      clientShowsImages: showImages,
      ...(readResource !== undefined && { readResource }),
    };
  }
}

function tooLarge(place: ToolPlace): ToolClientError {
  const size = `${MAX_MESSAGE / 1024 / 1024} MiB`;
  const remedy = "servers close the connection at more; send less at a time";
  return new ToolClientError(`${subjectOf(place)} takes ${size} of arguments at most: ${remedy}.`);
}
