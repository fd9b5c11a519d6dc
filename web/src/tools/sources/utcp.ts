/**
 * Tools of a UTCP manual. For browsers and Node.
 * @module
 */
import type { ToolSource } from "../source.js";
import { httpToolSource } from "./http/connection.js";
import type { HttpTerms } from "./terms.js";

/**
 * A source for the transport `utcp`. Its connection is the address of a manual, or a manual itself as text. Tools with call
 * templates of the types `http` and `streamable_http` are offered; a manual cannot start commands, for which there is the
 * transport `cli`.
 *
 * Of UTCP's libraries only the schema of call templates and the converter of OpenAPI descriptions are used, neither of
 * which prints anything as it is called here: the client in there writes to standard output, and makes lossy text of
 * binary answers.
 */
export function utcpSource(terms: HttpTerms): ToolSource {
  return httpToolSource(terms);
}
