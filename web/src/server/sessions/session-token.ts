/**
 * What a client shows to be in a session: a JSON Web Token (RFC 7519), signed with HMAC-SHA256.
 * @module
 */
import { sign, verify } from "hono/jwt";
import { wrong } from "../../errors/arguments.js";
import type { ServedSession } from "./session.js";

/** Characters that a secret must have. */
export const SHORTEST_SECRET = 32;

/** Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. */
export function checkSecret(secret: unknown): void {
  if (typeof secret !== "string" || secret.length < SHORTEST_SECRET) {
    throw wrong("secret", `a text of at least ${SHORTEST_SECRET} characters`);
  }
}

const ALGORITHM = "HS256";

/** Longer than any of ours. */
const MAX_TOKEN = 1024;

/** Signs and reads the tokens of sessions: all processes that share sessions have the same secret. */
export class SessionTokens {
  readonly #secret: string;

  /** Throws SluiceError E_INVALID_ARGUMENT for a secret that is too short. */
  constructor(secret: string) {
    checkSecret(secret);
    this.#secret = secret;
  }

  /** The token of a session; it ends with it. */
  sign({ id, begun_at, expires_at }: ServedSession): Promise<string> {
    return sign({ sid: id, iat: seconds(begun_at), exp: seconds(expires_at) }, this.#secret, ALGORITHM);
  }

  /** The id of the session that a token is for; null for one that is not ours, or over. */
  async read(token: string): Promise<string | null> {
    if (token.length > MAX_TOKEN) return null;
    try {
      const { sid } = await verify(token, this.#secret, ALGORITHM);
      return typeof sid === "string" ? sid : null;
    } catch {
      return null;
    }
  }
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
