/**
 * A connection to a source over HTTP: what was discovered, and requests one by one.
 * @module
 */
import { ToolClientError, ToolConnectionError } from "../../errors.js";
import { subjectOf, type ToolPlace } from "../../adapting/place.js";
import type { OpenOptions, SourceCall, SourceConnection, SourceResult, SourceTool, ToolSource } from "../../source.js";
import { documentVariables, type DocumentVariables } from "../document-variables.js";
import { wrong } from "../problem.js";
import type { HttpTerms } from "../terms.js";
import { mayGoOn } from "./addresses.js";
import { gatedAnswer } from "./answer.js";
import { discovered, type Discovered } from "./discover.js";
import { requestOf } from "./request.js";
import { send } from "./send.js";
import type { HttpTool } from "./tool.js";

/** A source whose tools are called by HTTP requests. */
export function httpToolSource(terms: HttpTerms): ToolSource {
  return {
    async open(options: OpenOptions): Promise<SourceConnection> {
      const { authorize, signal } = options;
      return new HttpConnection(terms, options, await discovered(terms, { authorize, signal }));
    },
  };
}

class HttpConnection implements SourceConnection {
  readonly resources = undefined;
  readonly #terms: HttpTerms;
  readonly #options: OpenOptions;
  readonly #variables: DocumentVariables;
  #found: Discovered;
  /** Whether nobody was told yet what was found. */
  #isFresh = true;
  #isOpen = true;

  constructor(terms: HttpTerms, options: OpenOptions, found: Discovered) {
    this.#terms = terms;
    this.#options = options;
    this.#found = found;
    this.#variables = documentVariables(terms);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async tools(signal: AbortSignal): Promise<readonly SourceTool[]> {
    if (!this.#isFresh) this.#found = await discovered(this.#terms, { authorize: this.#options.authorize, signal });
    this.#isFresh = false;
    return this.#found.tools.map(({ template: _, ...tool }) => tool);
  }

  async call({ tool: name, args, dialect, scope, signal }: SourceCall): Promise<SourceResult> {
    const { name: source, sluice, fetch = globalThis.fetch } = this.#terms;
    const place = { source, tool: name };
    const { template } = this.#tool(name, place);
    const { from, trusted } = this.#found;
    const { authorize } = this.#options;
    signal.throwIfAborted();
    const request = await requestOf({ template, args, variables: this.#variables, trusted, authorize, place });
    if (from !== null && !trusted.has(request.url.origin) && !mayGoOn(from, request.url)) {
      const where = "on this machine, or on another server in the clear";
      throw wrong(`${subjectOf(place)} is ${where}, which its document may not ask for: give the document as text.`);
    }
    const answer = await send(request, { fetch, signal, place });
    const options = { tool: name, namespace: source, scope, dialect, signal };
    return { reduced: await gatedAnswer(answer, sluice, options, place), isError: false };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
  }

  #tool(name: string, place: ToolPlace): HttpTool {
    if (!this.#isOpen) {
      throw new ToolConnectionError(`${subjectOf({ source: place.source })} was closed: connect it again.`);
    }
    const tool = this.#found.tools.find((one) => one.name === name);
    if (tool === undefined) {
      throw new ToolClientError(`${subjectOf(place)} does not exist: list the tools of the source again.`);
    }
    return tool;
  }
}
