/**
 * Why a server at an address could not be asked, as sentences for its client.
 * @module
 */

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "its name could not be looked up",
  ETIMEDOUT: "it did not answer in time",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no network",
  ECONNRESET: "it closed the connection",
  EPIPE: "it closed the connection",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is signed by itself",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by nobody known",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by nobody known",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

/** A sentence that names no address: whoever gets it need not know where the server is. */
export function failureOf(error: unknown): string {
  return `The server cannot be reached: ${REASONS[codeOf(error) ?? ""] ?? "the connection failed"}.`;
}

/** Of several attempts, as for a name with two addresses, the first one's. */
function codeOf(error: unknown): string | undefined {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: readonly unknown[] };
  if (typeof code === "string" && code in REASONS) return code;
  if (errors?.[0] !== undefined) return codeOf(errors[0]);
  return cause instanceof Error ? codeOf(cause) : undefined;
}
