/**
 * What sources have in common that a document describes, over HTTP and of commands: what they are made of, the variables in the
 * document, and the tools that were found in it.
 * @module
 */
import type { Sluice } from "../../core/sluice.js";
import { subjectOf } from "../adapting/place.js";
import type { AuthType, UtcpMode } from "../config.js";
import { ToolAuthError, ToolClientError, ToolConnectionError } from "../errors.js";
import type { SourceCall, SourceConnection, SourceResult, SourceTool } from "../source.js";
import type { Variables } from "../variables.js";

/** A source's terms; those of the configuration have it written in its own words. */
export interface SourceTerms {
  /** The source's name, for errors and for the names of variables. */
  readonly name: string;
  /** Variables are substituted. */
  readonly connection: string;
  /** `auto` when left out. */
  readonly utcp_mode?: UtcpMode;
  /** What documents may name as `${NAME}`; for commands also what is put into their environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** For commands: whether they are told who asks. `none` when left out. */
  readonly auth_type?: AuthType;
  /** Also what documents may name: `auth_config`, so that `${api_key}` and `${token}` say it. `env` names the variable that commands are told by. */
  readonly auth_config?: Readonly<Record<string, string>>;
  /**
   * Variables of the host. A document is given only those that carry the source's name, `NAME_API_KEY` for
   * `${API_KEY}`: whoever writes it could send all others wherever they like.
   */
  readonly variables?: Variables;
  /** The one gate. */
  readonly sluice: Sluice;
}

/** Terms of a source that is spoken to over HTTP. */
export interface HttpTerms extends SourceTerms {
  /** That of the platform when left out. */
  readonly fetch?: typeof fetch;
  /** Origins beside the connection's own which may be told who asks, such as `https://api.example.com`. */
  readonly trusted_origins?: readonly string[];
}

const REFERENCE = /\$(?:\{([A-Za-z0-9_]{1,128})\}|([A-Za-z_][A-Za-z0-9_]{0,127}))/g;

/** The name that OpenAPI conversion gives a credential, and what `auth_config` calls it. */
const INVENTED: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^API_KEY_\d+$/, ["api_key", "token"]],
  [/^USERNAME_\d+$/, ["username"]],
  [/^PASSWORD_\d+$/, ["password"]],
];

/** Looks up what a document names; undefined where it has no value. */
export type DocumentVariables = (name: string) => string | undefined;

/** The variables that a document of a source may name: its own, and those of the host that carry its name. */
export function documentVariables(terms: SourceTerms): DocumentVariables {
  const { name: source, env = {}, auth_config: auth = {}, variables } = terms;
  // The prefix of UTCP: `my_api` and the variable KEY are `my__api_KEY`.
  const prefix = source.replace(/\W/g, "_").replaceAll("_", "__");
  return (name) => own(env, name) ?? own(auth, name) ?? variables?.(`${prefix}_${name}`) ?? invented(auth, name);
}

/**
 * The text with values in place of variables. A bare `$name` without a value is text, such as `$filter` of OData.
 *
 * @throws ToolAuthError for a `${NAME}` without a value.
 */
export function filledIn(text: string, variables: DocumentVariables, source: string): string {
  return text.replace(REFERENCE, (written: string, braced: string | undefined, bare: string | undefined) => {
    const value = variables(braced ?? bare ?? "");
    if (value !== undefined) return value;
    if (bare !== undefined) return written;
    throw new ToolAuthError(
      `${subjectOf({ source })} needs the variable ${braced}, which has no value: set it in env, or in auth_config.`,
    );
  });
}

function own(values: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function invented(auth: Readonly<Record<string, string>>, name: string): string | undefined {
  const keys = INVENTED.find(([pattern]) => pattern.test(name))?.[1] ?? [];
  return keys.map((key) => own(auth, key)).find((value) => value !== undefined);
}

/** What was found out: tools, each with what it is called by. */
export interface Found<Template> {
  readonly tools: readonly (SourceTool & { readonly template: Template })[];
}

/** Finds out what there is. */
export type Discover<F> = (signal: AbortSignal) => Promise<F>;

/** A connection whose tools are found out once it is opened, and again when they are asked for again. */
export abstract class DocumentConnection<
  Terms extends SourceTerms,
  F extends Found<unknown>,
> implements SourceConnection {
  readonly resources = undefined;
  protected readonly terms: Terms;
  readonly #discover: Discover<F>;
  #found: F;
  /** Whether nobody was told yet what was found. */
  #isFresh = true;
  #isOpen = true;

  /** `found` is what `discover` gave for the first time. */
  constructor(terms: Terms, discover: Discover<F>, found: F) {
    this.terms = terms;
    this.#discover = discover;
    this.#found = found;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async tools(signal: AbortSignal): Promise<readonly SourceTool[]> {
    if (!this.#isFresh) this.#found = await this.#discover(signal);
    this.#isFresh = false;
    return this.#found.tools.map(({ template: _, ...tool }) => tool);
  }

  abstract call(call: SourceCall): Promise<SourceResult>;

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
  }

  /** What was found out last. */
  protected get found(): F {
    return this.#found;
  }

  /** The tool of a name. Throws ToolConnectionError when it is closed, ToolClientError where there is none. */
  protected tool(name: string): F["tools"][number] {
    const { name: source } = this.terms;
    if (!this.#isOpen) throw new ToolConnectionError(`${subjectOf({ source })} was closed: connect it again.`);
    const tool = this.#found.tools.find((one) => one.name === name);
    if (tool !== undefined) return tool;
    throw new ToolClientError(
      `${subjectOf({ source, tool: name })} does not exist: list the tools of the source again.`,
    );
  }
}
