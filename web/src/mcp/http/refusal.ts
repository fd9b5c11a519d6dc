/**
 * HTTP responses that refuse a request: makes them, reads them, and detects whether the session is gone.
 * @module
 */
import { decodePieces } from "../../jsonrpc/bytes.js";
import { errorMessage, objectOr, tryParse, RpcCode, stringOr } from "../../jsonrpc/rpc.js";

/** A response with a JSON-RPC error. `id` is the request's, as JSON text. */
export function refuseRequest(id: string | undefined, status: number, code: number, sentence: string): Response {
  const headers = { "content-type": "application/json" };
  return new Response(errorMessage(id ?? "null", code, sentence), { status, headers });
}

/** Most bytes of a body that are read. */
const MAX_BYTES = 64 * 1024;

/** Milliseconds to wait for a body. */
const MAX_TIME = 2000;

/** The body of a refusal. */
interface RefusalBody {
  /** The part that was read. */
  readonly text: string;
  /** Whether that is the whole body. */
  readonly isWhole: boolean;
}

/** Reads at most 64 KiB of a response's body for at most 2 seconds, and cancels the rest. Never throws. */
export async function refusalBody({ body }: Response): Promise<RefusalBody> {
  if (body === null) return { text: "", isWhole: true };
  const reader = body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  let isWhole = false;
  let isOver = false;
  const cancel = (): void => {
    isOver = true;
    reader.cancel().catch(() => undefined);
  };
  const timer = setTimeout(cancel, MAX_TIME);
  try {
    while (size <= MAX_BYTES) {
      const { done, value } = await reader.read();
      // Cancelling resolves a pending read like the end of the body does.
      if (done) {
        isWhole = !isOver;
        break;
      }
      pieces.push(value.subarray(0, Math.max(0, MAX_BYTES - size)));
      size += value.length;
    }
  } catch {
    // The body broke off.
  } finally {
    clearTimeout(timer);
    cancel();
  }
  return { text: decodePieces(pieces), isWhole };
}

/**
 * Characters of a body that is not JSON-RPC in which a session is looked for: pages mention other kinds of sessions.
 */
const MAX_WORDS = 500;

const NAMES_SESSION = /\bsession(?:[\s_-]?id)?s?\b/i;
const IS_GONE =
  /\b(?:no|not|never|invalid|unknown|unrecogni[sz]ed|missing|expired|stale|terminated|closed|ended|lost|bad|required)\b|n't\b/i;
/** What the SDKs' servers say after a restart, when they have no session yet. */
const NOT_INITIALIZED = /\bserver (?:is )?not (?:yet )?initialized\b/i;

/**
 * Whether a response to a request with a session id says that the server does not know the session, so that nothing of
 * the request was done.
 *
 * That is HTTP 404 (MCP 2025-11-25, "Session Management"), unless it is a JSON-RPC error about something else; and HTTP
 * 400 with words about the session, which many servers send instead.
 */
export function isSessionGone(status: number, body: string): boolean {
  if (status !== 400 && status !== 404) return false;
  const { id, error } = objectOr(tryParse(body));
  const code = objectOr(error)["code"];
  const message = stringOr(objectOr(error)["message"]);
  const isRpc = typeof code === "number" && message !== undefined;
  if (isRpc && code === RpcCode.invalidParams) return false;
  const words = isRpc ? message : body.slice(0, MAX_WORDS);
  if (NOT_INITIALIZED.test(words) || (NAMES_SESSION.test(words) && IS_GONE.test(words))) return true;
  return status === 404 && !(isRpc && id !== undefined && id !== null);
}
