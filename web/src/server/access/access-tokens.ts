/**
 * Checks access tokens of an OpenID Connect provider, which are JSON Web Tokens (RFC 7519, RFC 9068).
 * @module
 */
import type { JWTPayload } from "jose";
import { MAX_SCOPE_FIELD } from "../../artifacts/scope.js";
import type { Clock } from "../../artifacts/store.js";
import { checkOptions, TEXT, type OptionTest, type OptionTests } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import { isSafe } from "../../tools/addresses.js";
import type { Fetch } from "../../tools/auth/oauth-client.js";
import type { Identity } from "../session.js";
import { ProviderKeys } from "./provider-keys.js";

/** An OpenID Connect provider that signs users in. */
export interface OidcOptions {
  /** The issuer, exactly as the provider writes it: `https:`, or `http:` on this machine. */
  readonly issuer: string;
  /**
   * Further audiences that tokens may be for (claim `aud`), for providers that do not take the server's own URL as one (RFC 8707).
   * @defaultValue only the server's public URL, and the URL of the MCP source that is asked for
   */
  readonly audience?: string | readonly string[];
  /**
   * The claim that names the user. `email` counts only where `email_verified` is true.
   * @defaultValue `"sub"`
   */
  readonly userClaim?: string;
  /** The claim that names the user's organisation. With it, tokens without that claim are refused. */
  readonly tenantClaim?: string;
  /** Scopes that a token must have, all of them. */
  readonly scopes?: readonly string[];
  /**
   * Signature algorithms. Only asymmetric ones are possible.
   * @defaultValue RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA and Ed25519
   */
  readonly algorithms?: readonly string[];
  /** Where the provider's keys are. Defaults to what its description says. */
  readonly jwksUrl?: string;
  /**
   * Seconds that the provider's clock may differ from this machine's, at most 300.
   * @defaultValue `30`
   */
  readonly clockToleranceSeconds?: number;
}

/** What a valid token grants. */
export interface AccessGrant {
  readonly identity: Identity;
  /** The program that the user gave access to, or "" if the token does not say. */
  readonly client: string;
  /** When it is no longer valid, as far as clocks may differ, in milliseconds since 1970. */
  readonly expires_at: number;
}

/** Why a token is refused, in the words of RFC 6750 §3.1. */
export type TokenRefusal = "invalid_token" | "insufficient_scope";

/** Longest token, in characters. Node takes 16 KiB of headers in all. */
const MAX_TOKEN = 16 * 1024;

/** All are asymmetric: with a symmetric one, any reader of the provider's public key could sign. */
export const ALGORITHMS = [
  ...(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const),
  ...(["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const),
] as const;

/** Values of the header `typ` of access tokens: those of RFC 9068, and those that providers had before it. */
const TYPES: ReadonlySet<string> = new Set(["at+jwt", "application/at+jwt"]);
const OLD_TYPES: ReadonlySet<string> = new Set(["jwt", "application/jwt"]);

/** Claims that ID tokens alone have: they say who signed in, and grant nothing (OpenID Connect Core §2, §3.3). */
const OF_ID_TOKENS = ["nonce", "at_hash", "c_hash", "s_hash"];

/** What checks tokens besides the options. Tests give others. */
interface AccessTokensDeps {
  readonly fetch?: Fetch;
  readonly clock?: Clock;
}

/** Checks access tokens. The provider is asked at the first token. */
export class AccessTokens {
  readonly issuer: string;
  readonly scopes: readonly string[];
  readonly #options: OidcOptions;
  readonly #audiences: readonly string[];
  readonly #keys: ProviderKeys;
  readonly #clock: Clock;

  /** Throws SluiceError E_INVALID_ARGUMENT with the option that is wrong. */
  constructor(options: OidcOptions, { fetch = globalThis.fetch, clock = Date.now }: AccessTokensDeps = {}) {
    checkOidc(options);
    const { issuer, audience = [], scopes = [], jwksUrl } = options;
    this.issuer = issuer;
    this.scopes = [...scopes];
    this.#options = options;
    this.#audiences = [audience].flat();
    this.#clock = clock;
    this.#keys = new ProviderKeys({ issuer, jwksUrl, fetch, clock });
  }

  /**
   * What a token grants, or why it is refused.
   *
   * @param resources URLs that it may be for besides the configured audiences.
   * @throws ProviderAway if the provider's keys cannot be read.
   */
  async read(token: string, resources: readonly string[]): Promise<AccessGrant | TokenRefusal> {
    if (token.length > MAX_TOKEN) return "invalid_token";
    const { algorithms = ALGORITHMS, clockToleranceSeconds = 30 } = this.#options;
    const { jwtVerify, errors } = await import("jose");
    let claims: JWTPayload;
    let type: string;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#keys.find, {
        algorithms: [...algorithms],
        issuer: this.issuer,
        audience: [...this.#audiences, ...resources],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(this.#clock()),
        requiredClaims: ["exp"],
      });
      claims = payload;
      type = (protectedHeader.typ ?? "JWT").toLowerCase();
    } catch (error) {
      // A key that is too short for its algorithm is a TypeError.
      if (error instanceof errors.JOSEError || error instanceof TypeError) return "invalid_token";
      throw error;
    }
    const { iat = 0, exp = 0 } = claims;
    if (iat * 1000 > this.#clock() + clockToleranceSeconds * 1000 || !isAccessToken(type, claims))
      return "invalid_token";
    const identity = this.#identityIn(claims);
    if (identity === null) return "invalid_token";
    const granted = scopesIn(claims);
    if (!this.scopes.every((scope) => granted.has(scope))) return "insufficient_scope";
    const client = textIn(claims, "client_id") ?? textIn(claims, "azp") ?? "";
    return { identity, client, expires_at: (exp + clockToleranceSeconds) * 1000 };
  }

  #identityIn(claims: JWTPayload): Identity | null {
    const { userClaim = "sub", tenantClaim } = this.#options;
    if (userClaim === "email" && claims["email_verified"] !== true) return null;
    const user_id = textIn(claims, userClaim);
    if (user_id === null) return null;
    if (tenantClaim === undefined) return { user_id, tenant_id: null };
    const tenant_id = textIn(claims, tenantClaim);
    return tenant_id === null ? null : { user_id, tenant_id };
  }
}

/** A claim that is a name: a string of 1 to 1,024 characters. Null for anything else. */
function textIn(claims: JWTPayload, name: string): string | null {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === "string" && value !== "" && value.length <= MAX_SCOPE_FIELD ? value : null;
}

/** Providers that give access tokens no type of their own name the kind in a claim, if at all. */
function isAccessToken(type: string, claims: JWTPayload): boolean {
  if (TYPES.has(type)) return true;
  if (!OLD_TYPES.has(type)) return false;
  const kind = claims["token_use"] ?? claims["typ"];
  if (kind !== undefined) return kind === "access" || kind === "Bearer";
  return !OF_ID_TOKENS.some((name) => Object.hasOwn(claims, name));
}

/** `scope` is one string (RFC 9068); some providers have a list, or call it `scp`. */
function scopesIn(claims: JWTPayload): ReadonlySet<string> {
  const said = [claims["scope"], claims["scp"]].flat().filter((each) => typeof each === "string");
  return new Set(said.flatMap((each) => each.split(" ")));
}

const TEXTS = (holds: RegExp): OptionTest[1] => {
  return (value) => Array.isArray(value) && value.every((each) => typeof each === "string" && holds.test(each));
};

const NAME = ["the name of a claim", (value: unknown) => typeof value === "string" && value !== ""] as const;

const isAddress = (value: unknown): boolean =>
  typeof value === "string" && URL.canParse(value) && isSafe(new URL(value));

const OPTIONS: OptionTests<OidcOptions> = {
  issuer: [
    "an https: URL without query, as the provider writes it, or http: on this machine",
    (value) => isAddress(value) && !/[?#]/.test(String(value)),
  ],
  audience: ["a string or a list of strings", (value) => TEXT[1](value) || TEXTS(/./)(value)],
  userClaim: NAME,
  tenantClaim: NAME,
  scopes: ["a list of scopes, none with a space in it", TEXTS(/^[\x21\x23-\x5b\x5d-\x7e]+$/)],
  algorithms: ["a list of asymmetric algorithms such as RS256", isAlgorithms],
  jwksUrl: ["an https: URL, or http: on this machine", isAddress],
  clockToleranceSeconds: [
    "a number of seconds from 0 to 300",
    (value) => typeof value === "number" && value >= 0 && value <= 300,
  ],
};

function isAlgorithms(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((each) => (ALGORITHMS as readonly unknown[]).includes(each))
  );
}

/** Checks the options. Throws SluiceError E_INVALID_ARGUMENT with the option's name, below `oidc`. */
export function checkOidc(options: OidcOptions): void {
  checkOptions(options, OPTIONS, "oidc", wrongOidc, ["issuer"]);
}

function wrongOidc(sentence: string, name: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path: `oidc.${name}` });
}

/** The token of the header `Authorization`. Null for none, for another scheme, and if the header was sent twice. */
export function bearerIn(headers: Headers): string | null {
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}
