/**
 * A connection to a source over HTTP: what was discovered, and requests one by one.
 * @module
 */
import { subjectOf } from "../../adapting/place.js";
import { wrong } from "../../problem.js";
import type {
  Authorize,
  OpenOptions,
  SourceCall,
  SourceConnection,
  SourceResult,
  SourceTool,
  ToolSource,
} from "../../source.js";
import { checkArguments } from "../arguments.js";
import { documentVariables, type DocumentVariables } from "../document-variables.js";
import { FoundTools } from "../found-tools.js";
import type { HttpTerms } from "../terms.js";
import { mayGoOn } from "./addresses.js";
import { gatedAnswer } from "./answer.js";
import { discovered, type Discovered } from "./discover.js";
import { requestOf } from "./request.js";
import { send } from "./send.js";
import type { HttpTemplate } from "./tool.js";

/** A source whose tools are called by HTTP requests. */
export function httpToolSource(terms: HttpTerms): ToolSource {
  return {
    async open({ authorize, signal: opening }: OpenOptions): Promise<SourceConnection> {
      const discover = (signal: AbortSignal): Promise<Discovered> => discovered(terms, { authorize, signal });
      return new HttpConnection(terms, authorize, await FoundTools.of(terms.name, discover, opening));
    },
  };
}

class HttpConnection implements SourceConnection {
  readonly resources = undefined;
  readonly #terms: HttpTerms;
  readonly #authorize: Authorize;
  readonly #variables: DocumentVariables;
  readonly #tools: FoundTools<HttpTemplate, Discovered>;

  constructor(terms: HttpTerms, authorize: Authorize, tools: FoundTools<HttpTemplate, Discovered>) {
    this.#terms = terms;
    this.#authorize = authorize;
    this.#variables = documentVariables(terms);
    this.#tools = tools;
  }

  get isOpen(): boolean {
    return this.#tools.isOpen;
  }

  tools(signal: AbortSignal): Promise<readonly SourceTool[]> {
    return this.#tools.list(signal);
  }

  async call({ tool: name, args, dialect, keepOriginal, scope, signal, alive }: SourceCall): Promise<SourceResult> {
    const { name: source, sluice, fetch = globalThis.fetch, auth_type, auth_config } = this.#terms;
    const place = { source, tool: name };
    const { template, input_schema: schema } = this.#tools.tool(name);
    checkArguments(args, schema, subjectOf(place));
    const { from, trusted } = this.#tools.found;
    const authorize = this.#authorize;
    signal.throwIfAborted();
    const variables = this.#variables;
    const keyHeader = auth_type === "api_key" ? auth_config?.["header"] : undefined;
    const request = await requestOf({ template, args, variables, trusted, authorize, keyHeader, place });
    if (from !== null && !trusted.has(request.url.origin) && !mayGoOn(from, request.url)) {
      const where = "on this machine, or on another server in the clear";
      throw wrong(`${subjectOf(place)} is ${where}, which its document may not ask for: give the document as text.`);
    }
    const answer = await send(request, { fetch, signal, place });
    const options = { tool: name, namespace: source, scope, dialect, keepOriginal, signal };
    return { gated: await gatedAnswer(answer, sluice, options, place, alive), isError: false };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tools.close();
  }
}
