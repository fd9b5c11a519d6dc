/**
 * What sources over HTTP and of commands are made of.
 * @module
 */
import type { Sluice } from "../../core/sluice.js";
import type { AuthType, UtcpMode } from "../config.js";
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
