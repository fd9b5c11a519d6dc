/**
 * What an HTTP response that is no answer says, as an error of JSON-RPC.
 * @module
 */
import { parseJson, sourceOf, valueAt } from "../../mcp/json-text.js";
import { errorMessage, RpcCode } from "../../mcp/rpc.js";

/** Bytes of a body that are read for what it says. */
const MAX_BODY = 64 * 1024;

/** What was asked. */
export interface Asked {
  /** Whether it was asked in a session. */
  readonly inSession: boolean;
}

/** Tells the text of an error message for an id, which is JSON text. */
export type Refusal = (id: string) => string;

/** Reads a response that carries no answer. The server's own error wins where the status needs no explanation. */
export async function refusalIn(response: Response, { inSession }: Asked): Promise<Refusal> {
  const { status } = response;
  const body = await headOf(response);
  if (status === 401) return saying(UNAUTHORIZED);
  const own = errorIn(body);
  if (status === 404 && inSession && own?.hasId !== true) return saying(NO_SESSION);
  if (own !== undefined) return (id) => `{"jsonrpc":"2.0","id":${id},"error":${own.error}}`;
  if (status >= 200 && status < 300) return saying("The server's response carries no answer.");
  return saying(`The server refuses the request: HTTP ${status}${REASONS.get(status) ?? ""}.`);
}

/** The same sentence for every id. */
export function saying(sentence: string): Refusal {
  return (id) => errorMessage(id, RpcCode.serverError, sentence);
}

const UNAUTHORIZED =
  'The server wants authorization: start the proxy with --header "Authorization: Bearer …", as it cannot sign in itself.';

const NO_SESSION = "The server no longer knows this session: connect again.";

const REASONS: ReadonlyMap<number, string> = new Map([
  [403, ", access is denied"],
  [404, ", there is nothing at this address"],
  [405, ", this address takes no messages"],
  [406, ", it does not speak Streamable HTTP"],
  [413, ", it is too large"],
  [429, ", too many requests: wait before the next"],
  [502, ", it cannot be reached"],
  [503, ", it is not available"],
  [504, ", it did not answer in time"],
]);

interface OwnError {
  /** JSON text. */
  readonly error: string;
  readonly hasId: boolean;
}

function errorIn(body: string): OwnError | undefined {
  try {
    const message = parseJson(body);
    const error = valueAt(message, "error");
    const id = valueAt(message, "id");
    if (error?.type !== "Object" || valueAt(error, "code")?.type !== "Number") return undefined;
    if (valueAt(error, "message")?.type !== "String") return undefined;
    return { error: sourceOf(body, error).replaceAll(/[\r\n]/g, " "), hasId: id !== undefined && id.type !== "Null" };
  } catch {
    return undefined;
  }
}

/** The whole body if it is small; empty if it is not. */
async function headOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of response.body ?? []) {
      size += piece.length;
      // Leaving the loop cancels the body.
      if (size > MAX_BODY) return "";
      pieces.push(piece);
    }
  } catch {
    return "";
  }
  return Buffer.concat(pieces).toString();
}
