/**
 * What is known of an OAuth provider and of us as its client (ToolNode 2.1 `OAuthProviderConfig`).
 * @module
 */
import { z } from "zod";
import type { ToolNodeError } from "../errors.js";
import { wrong } from "../problem.js";
import { isSafe, isSafeRedirect } from "./addresses.js";

/** An OAuth 2 provider: either `issuer`, and the rest is discovered, or `auth_url` and `token_url`. */
export interface OAuthProviderConfig {
  /** The provider's name; the key it stands under. */
  readonly name?: string;
  /** What a person calls it; the name when left out. */
  readonly display_name?: string;
  /** Who gives the tokens. With the URLs below it is only compared with what comes back (RFC 9207). */
  readonly issuer?: string;
  /** Where a person consents. */
  readonly auth_url?: string;
  /** Where codes become tokens. */
  readonly token_url?: string;
  /** Who we are to the provider. */
  readonly client_id: string;
  /** Left out by public clients: PKCE protects them. */
  readonly client_secret?: string;
  /** How the secret is sent. Left out: as the discovered provider prefers it, else in the body. */
  readonly token_endpoint_auth_method?: "client_secret_basic" | "client_secret_post";
  /** Where the code is sent: an address of the host that calls `handleCallback`. */
  readonly redirect_uri: string;
  /** What is asked for; the provider's default when left out. */
  readonly scopes?: readonly string[];
  /** What the tokens are for (RFC 8707): the URL of the API or MCP server. */
  readonly resource?: string;
  /** Further parameters of the consent page, such as `access_type: "offline"`. */
  readonly auth_params?: Readonly<Record<string, string>>;
}

/** Parameters of the protocol itself. */
const RESERVED = new Set(
  (
    "client_id client_secret redirect_uri response_type response_mode scope state resource " +
    "code_challenge code_challenge_method request request_uri"
  ).split(" "),
);

const endpoint = z.string().refine((text) => isUrl(text, isSafe), {
  message: "must be an https: URL without name and password, or http: on this machine",
});
const redirect = z.string().refine((text) => isUrl(text, isSafeRedirect), {
  message: "must be an https: URL, http: on this machine, or an app's own scheme such as com.example.app:",
});
const nonEmpty = z.string().min(1);

const schema = z
  .strictObject({
    name: nonEmpty.optional(),
    display_name: nonEmpty.optional(),
    issuer: endpoint.optional(),
    auth_url: endpoint.optional(),
    token_url: endpoint.optional(),
    client_id: nonEmpty,
    client_secret: nonEmpty.optional(),
    token_endpoint_auth_method: z.enum(["client_secret_basic", "client_secret_post"]).optional(),
    redirect_uri: redirect,
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { message: "must be one scope, without spaces" }))
      .default([]),
    resource: z
      .string()
      .refine((value) => isUrl(value, ({ hash }) => hash === ""), { message: "must be a URL without a fragment" })
      .optional(),
    auth_params: z.record(z.string(), z.string()).default({}),
  })
  .check(({ value, issues }) => {
    const refuse = (key: string, message: string): void => {
      issues.push({ code: "custom", input: undefined, path: [key], message });
    };
    if ((value.auth_url === undefined) !== (value.token_url === undefined)) {
      refuse(
        value.auth_url === undefined ? "auth_url" : "token_url",
        "must be given with the other of auth_url and token_url",
      );
    } else if (value.issuer === undefined && value.auth_url === undefined) {
      refuse("issuer", "must be given, or auth_url and token_url instead");
    }
    if (value.token_endpoint_auth_method !== undefined && value.client_secret === undefined) {
      refuse("token_endpoint_auth_method", "says how a client_secret is sent, and there is none");
    }
    for (const key of Object.keys(value.auth_params)) {
      if (RESERVED.has(key)) refuse("auth_params", `must not set ${key}: it is part of the protocol`);
    }
  });

/** A provider as it was checked. */
export type CheckedProvider = z.output<typeof schema>;

/**
 * Checks a provider's configuration.
 *
 * @throws ToolNodeError E_TOOL_CONFIG that names every wrong place, and no value.
 */
export function checkProvider(name: string, config: OAuthProviderConfig): CheckedProvider {
  const { success, data, error } = schema.safeParse(config, { jitless: true });
  if (!success) {
    throw wrongConfig(error.issues.map(({ path, message }) => `${["providers", name, ...path].join(".")}: ${message}`));
  }
  if (data.name !== undefined && data.name !== name) {
    throw wrongConfig([
      `providers.${name}.name: must be ${JSON.stringify(name)}, the key that it stands under, or left out`,
    ]);
  }
  return data;
}

function wrongConfig(sentences: readonly string[]): ToolNodeError {
  return wrong(`${sentences.join("; ")}.`);
}

function isUrl(text: string, holds: (url: URL) => boolean): boolean {
  return URL.canParse(text) && holds(new URL(text));
}
