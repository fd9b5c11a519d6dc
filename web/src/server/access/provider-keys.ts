/**
 * The keys that an OpenID Connect provider signs with, as it publishes them.
 * @module
 */
import type { JWK, JWTVerifyGetKey } from "jose";
import type { Clock } from "../../artifacts/store.js";
import { isLoopback, isPrivate, isSafeFrom } from "../../tools/addresses.js";
import { shortFetch, type Fetch } from "../../tools/auth/oauth-client.js";

/** Milliseconds after which keys are read again, before a token is checked with them. */
const FRESH = 10 * 60 * 1000;

/** Milliseconds for which known keys go on while the provider is away. */
const KEPT = 24 * 60 * 60 * 1000;

/** Least milliseconds between two times that the provider is asked: unknown key ids cost it no more than that. */
const PAUSE = 10_000;

/** Milliseconds for the provider to answer, description and keys together. */
const LATE = 5000;

/** Most keys that are looked at. */
const MAX_KEYS = 64;

/** Kinds of keys that have a public half. A symmetric one would let everybody sign who can read it. */
const PUBLIC_KINDS: ReadonlySet<unknown> = new Set(["RSA", "EC", "OKP"]);

/** What reads keys. */
interface ProviderKeysDeps {
  /** The issuer, as it names itself. */
  readonly issuer: string;
  /** Where the keys are. Undefined: where the provider's description says. */
  readonly jwksUrl: string | undefined;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** The keys cannot be read. The message is for the operator of the server; it quotes no answer. */
export class ProviderAway extends Error {
  override readonly name = "ProviderAway";
}

interface ReadKeys {
  readonly key: JWTVerifyGetKey;
  readonly at: number;
}

/**
 * Reads a provider's keys when they are needed, and again when a token names a key that is not among them. While the
 * provider is away, known keys go on for a day.
 */
export class ProviderKeys {
  readonly #deps: ProviderKeysDeps;
  #keys: ReadKeys | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  #failure: ProviderAway | undefined;

  constructor(deps: ProviderKeysDeps) {
    this.#deps = deps;
  }

  /** The key for a token's header. Throws ProviderAway, and errors of `jose` if there is no such key. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current();
    try {
      return await keys.key(header, token);
    } catch (error) {
      const { errors } = await import("jose");
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#askAgain())) throw error;
      return (this.#keys ?? keys).key(header, token);
    }
  };

  /** Keys that are fresh, or the last ones if the provider is away. */
  async #current(): Promise<ReadKeys> {
    if (this.#measureAge(this.#keys) >= FRESH) await this.#askAgain();
    if (this.#keys !== undefined && this.#measureAge(this.#keys) < KEPT) return this.#keys;
    throw this.#failure ?? new ProviderAway("its keys were not read yet");
  }

  #measureAge(keys: ReadKeys | undefined): number {
    return keys === undefined ? Number.POSITIVE_INFINITY : this.#deps.clock() - keys.at;
  }

  /** Asks the provider, unless it was asked just now. Returns whether there are new keys. Never throws. */
  async #askAgain(): Promise<boolean> {
    const before = this.#keys;
    if (this.#asking === undefined) {
      if (this.#deps.clock() - this.#askedAt < PAUSE) return false;
      this.#asking = this.#ask().finally(() => (this.#asking = undefined));
    }
    await this.#asking;
    return this.#keys !== before;
  }

  async #ask(): Promise<void> {
    try {
      const signal = AbortSignal.timeout(LATE);
      const key = await this.#keysAt(await this.#address(signal), signal);
      this.#keys = { key, at: this.#deps.clock() };
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error instanceof ProviderAway ? error : new ProviderAway(readReason(error), { cause: error });
    } finally {
      this.#askedAt = this.#deps.clock();
    }
  }

  async #keysAt(url: URL, signal: AbortSignal): Promise<JWTVerifyGetKey> {
    const { keys } = (await this.#json(url, signal)) as { readonly keys?: unknown };
    if (!Array.isArray(keys)) throw new ProviderAway("what it gives as its keys is no JSON Web Key Set");
    const known = keys.slice(0, MAX_KEYS).filter(isPublicKey);
    if (known.length === 0) throw new ProviderAway("there is no public key among its keys");
    const { createLocalJWKSet } = await import("jose");
    return createLocalJWKSet({ keys: known });
  }

  async #address(signal: AbortSignal): Promise<URL> {
    const { issuer, jwksUrl } = this.#deps;
    if (jwksUrl !== undefined) return new URL(jwksUrl);
    const { issuer: named, jwks_uri: said } = await this.#description(new URL(issuer), signal);
    if (named !== issuer)
      throw new ProviderAway('its description names another "issuer": write it as the provider does');
    if (typeof said !== "string" || !URL.canParse(said)) throw new ProviderAway("its description has no jwks_uri");
    const url = new URL(said);
    const isLocal = isLoopback(new URL(issuer));
    if (isSafeFrom(url, isLocal) && (isLocal || !isPrivate(url))) return url;
    throw new ProviderAway("its jwks_uri is no https: URL, or is on this machine or in a private network");
  }

  /** The first description that there is (OpenID Connect Discovery 1.0 §4; RFC 8414 §3). */
  async #description(issuer: URL, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const path = issuer.pathname.replace(/\/$/, "");
    const places = [
      `${path}/.well-known/openid-configuration`,
      `/.well-known/oauth-authorization-server${path}`,
      ...(path === "" ? [] : [`/.well-known/openid-configuration${path}`]),
    ];
    let failure: unknown;
    for (const place of places) {
      try {
        return (await this.#json(new URL(place, issuer), signal)) as Record<string, unknown>;
      } catch (error) {
        failure ??= error;
        if (signal.aborted) break;
      }
    }
    throw failure;
  }

  async #json(url: URL, signal: AbortSignal): Promise<object> {
    const { fetch } = this.#deps;
    const init = { headers: { accept: "application/json" }, redirect: "manual", signal } as const;
    const response = await shortFetch(fetch)(url, init);
    if (response.status !== 200) throw new ProviderAway(`it answered ${response.status} where 200 was expected`);
    const value: unknown = await response.json().catch(() => null);
    if (typeof value === "object" && value !== null) return value;
    throw new ProviderAway("it answered with something other than JSON");
  }
}

function isPublicKey(key: unknown): key is JWK {
  return typeof key === "object" && key !== null && PUBLIC_KINDS.has((key as JWK).kty);
}

/** The code of a failed connection. What `fetch` says besides may quote addresses. */
function readReason(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return `it did not answer within ${LATE / 1000} s`;
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
  return typeof code === "string"
    ? `it cannot be reached (${code})`
    : "it cannot be reached, or its answer is too long";
}
