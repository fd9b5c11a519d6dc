/**
 * Tools of an HTTP API: an OpenAPI description, a UTCP manual, or a bare address. For browsers and Node.
 * @module
 */
import type { ToolSource } from "../source.js";
import { httpToolSource } from "./http/connection.js";
import type { HttpTerms } from "./terms.js";

/**
 * A source for the transport `http`. Its connection is the address of an OpenAPI description (JSON or YAML), such a
 * description itself, or the base URL of an API, which becomes one tool that sends POST requests.
 *
 * Bodies of answers pass the gate while they come: JSON as it is, text as a string, anything else as its exact bytes.
 */
export function httpSource(terms: HttpTerms): ToolSource {
  return httpToolSource(terms);
}
