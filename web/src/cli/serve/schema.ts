/**
 * The schema of a configuration for `sluice serve`, key by key.
 * @module
 */
import { z } from "zod";
import { MAX_SCOPE_FIELD } from "../../artifacts/scope.js";
import { FLAGS, MEGABYTES } from "../../files/options.js";
import { LIMITS } from "../../server/options.js";
import { ALGORITHMS } from "../../server/access/access-tokens.js";
import { USER_LIMITS } from "../../server/usage/user-limits.js";
import { isOrigin, isSafe } from "../../tools/addresses.js";

/** The default address to listen at. */
export const DEFAULT_ADDRESS = "127.0.0.1:4751";

/** Seconds at the end for running requests, unless it is said. */
export const GRACE_SECONDS = 10;

/** The same for balancers, where processes share state: three looks in 10 seconds notice it. */
export const DRAIN_SECONDS = 10;

/** An hour. */
export const MAX_END = 3600;

const MAX_TEXT = 4096;
const MAX_INSTRUCTIONS = 100_000;
const MAX_NAMES = 256;
const MAX_TOKENS = 1000;
/** Least characters of a token. */
export const SHORTEST_TOKEN = 16;
/** A year: later dates overflow the range of cookies. */
const MAX_SESSION = 365 * 86_400;

const text = (effect: string): z.ZodString => z.string().min(1).max(MAX_TEXT).describe(effect);
const fitting = (holds: (value: string) => boolean, wanted: string, effect: string): z.ZodType<string> =>
  z.string().max(MAX_TEXT).refine(holds, { error: wanted }).describe(effect);
const count = (effect: string, standard: number): z.ZodOptional<z.ZodInt> =>
  z.int().min(1).meta({ description: effect, default: standard }).optional();
const seconds = (effect: string): z.ZodNumber => z.number().min(0).max(MAX_END).meta({ description: effect });
/** Its content is checked where it is used. */
const object = (effect: string): z.ZodType<Readonly<Record<string, unknown>>> =>
  z.record(z.string(), z.unknown()).describe(effect);

const identity = (effect: string): z.ZodString => z.string().min(1).max(MAX_SCOPE_FIELD).describe(effect);

const tokens = z
  .array(
    z.strictObject({
      token: z.string().min(SHORTEST_TOKEN).max(MAX_TEXT).describe("What a client sends as `Authorization: Bearer …`."),
      user_id: identity("The user that it belongs to."),
      tenant_id: identity("The user's organisation, if there are several.").optional(),
    }),
  )
  .min(1)
  .max(MAX_TOKENS)
  .describe("Tokens that open sessions, each with its user.");

const headerName = (effect: string): z.ZodType<string> =>
  fitting(
    (name) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name),
    "the name of a header, such as x-forwarded-user",
    effect,
  );

const claim = (effect: string): z.ZodOptional<z.ZodString> =>
  z.string().min(1).max(MAX_SCOPE_FIELD).describe(effect).optional();

const oidc = z
  .strictObject({
    issuer: fitting(
      (said) => URL.canParse(said) && isSafe(new URL(said)) && !/[?#]/.test(said),
      "an https: URL without query, or http: on this machine",
      "The provider's issuer, exactly as the provider writes it.",
    ),
    audience: z
      .union([z.string().min(1).max(MAX_TEXT), z.array(z.string().min(1).max(MAX_TEXT)).min(1).max(MAX_NAMES)])
      .describe(
        "Further audiences (`aud`) that tokens may be for. Left out: public_url, and the URL of the source that is asked for.",
      )
      .optional(),
    user_claim: claim("The claim that names the user. Left out: sub. `email` counts only if the provider verified it."),
    tenant_claim: claim("The claim that names the user's organisation. Tokens without it are then refused."),
    scopes: z
      .array(fitting((said) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(said), "a scope without spaces", ""))
      .max(MAX_NAMES)
      .describe("Scopes that a token must have, all of them.")
      .optional(),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1)
      .describe("Signature algorithms. Left out: all asymmetric ones.")
      .optional(),
    jwks_url: fitting(
      (said) => URL.canParse(said) && isSafe(new URL(said)),
      "an https: URL, or http: on this machine",
      "Where the provider's keys are. Left out: where its description says.",
    ).optional(),
    clock_tolerance_seconds: z
      .int()
      .min(0)
      .max(300)
      .meta({ description: "Seconds that the provider's clock may differ from this machine's.", default: 30 })
      .optional(),
  })
  .describe("An OpenID Connect provider whose access tokens open sessions, and by which MCP clients connect.");

const auth = z
  .strictObject({
    tokens: tokens.optional(),
    header: z
      .strictObject({
        user: headerName("The header that names the user, set by a proxy in front."),
        tenant: headerName("The header that names the user's organisation.").optional(),
      })
      .optional(),
    oidc: oidc.optional(),
    module: text(
      "A JavaScript module, by its path relative to the configuration file. It exports `authenticate(request)`, which returns `{user_id, tenant_id}`, or null to refuse.",
    ).optional(),
  })
  .refine((said) => Object.values(said).filter((way) => way !== undefined).length === 1, {
    error: "an object with one of tokens, header, oidc and module",
  });

const limits = z.strictObject({
  requests_per_minute: count("Most requests of one session in a minute.", LIMITS.requestsPerMinute),
  sessions_per_minute: count("Most sessions that one user starts in a minute.", LIMITS.sessionsPerMinute),
  concurrent_requests: count(
    "Most requests of one session at the same time, not counting listeners.",
    LIMITS.concurrentRequests,
  ),
  listeners: count("Most listeners to the events of one session at the same time.", LIMITS.listeners),
  runs: count("Most chat runs of one session at the same time.", LIMITS.runs),
  store_seconds: count("Seconds to wait for the store, for each chunk that it reads or writes.", LIMITS.storeSeconds),
  body_seconds: count("Most seconds between two chunks of an upload.", LIMITS.bodySeconds),
  session_seconds: z
    .int()
    .min(1)
    .max(MAX_SESSION)
    .meta({ description: "Seconds until a session ends.", default: LIMITS.sessionSeconds })
    .optional(),
});

const userLimits = z.strictObject(
  Object.fromEntries(
    Object.values(USER_LIMITS).map(({ key, effect }) => [key, z.int().min(1).describe(effect).optional()]),
  ),
);

const model = z.strictObject({
  name: text("The model's name at its server."),
  url: fitting(
    isHttp,
    "an http(s) URL without a user, such as http://127.0.0.1:11434/v1",
    "The address of its server, without /chat/completions. Left out: OpenAI's.",
  ).optional(),
  api_key: z
    .string()
    .max(MAX_TEXT)
    .describe("Sent as a bearer token. Leave it out for a server that needs none.")
    .optional(),
});

const mebibytes = (effect: string, standard: number): z.ZodOptional<z.ZodNumber> =>
  z
    .number({ error: MEGABYTES[0] })
    .refine(MEGABYTES[1], { error: MEGABYTES[0] })
    .meta({ description: effect, default: standard })
    .optional();

const flag = (effect: string, standard: boolean): z.ZodOptional<z.ZodBoolean> =>
  z.boolean().meta({ description: effect, default: standard }).optional();

const files = z.union(
  [
    z.boolean(),
    z.strictObject({
      folders: text(
        "The folder that has a folder for each user, in which tools find the user's files. Left out: /tmp (on Windows, the system's folder for temporary files), and tools at addresses get data URIs instead of paths.",
      ).optional(),
      sandbox: flag(
        "Starts the programs of sources for each user in a sandbox that shows only the user's folder, as /tmp/{username} (Linux, bubblewrap).",
        false,
      ),
      persist_files_across_sessions: flag(
        "Whether users' files outlive a session. false: a session's files are deleted at its end.",
        FLAGS.persist_files_across_sessions,
      ),
      large_store: text(
        "Where files above base64_size_limit_mb are kept: a folder, or s3://bucket/prefix. Left out: in store.",
      ).optional(),
      base64_size_limit_mb: mebibytes(
        "Files up to this many MiB are kept in store, larger ones in large_store.",
        FLAGS.base64_size_limit_mb,
      ),
      max_file_size_mb: mebibytes(
        "Largest size of a file, in MiB. A larger one is refused (E_FILE_TOO_LARGE).",
        FLAGS.max_file_size_mb,
      ),
    }),
  ],
  { error: "true, false, or an object" },
);

/** The settings for users' files. */
export type ServeFiles = Exclude<z.output<typeof files>, boolean>;

/** All keys are optional. */
export const SCHEMA = z.strictObject({
  sources: z.array(z.unknown()).describe("The sources of tools, as in a file for `sluice tools --config`.").optional(),
  model: model.optional(),
  instructions: z
    .string()
    .max(MAX_INSTRUCTIONS)
    .describe("Instructions for the model, placed before those of Sluice.")
    .optional(),
  artifacts: object("How results are reduced: the keys that `sluice config` lists, except retention.").optional(),
  retention: object(
    "How long artifacts are kept, and how many: the keys of retention that `sluice config` lists.",
  ).optional(),
  store: text("Where artifacts and users' files are kept: a folder, or s3://bucket/prefix.").optional(),
  state: fitting(
    (url) => /^rediss?:\/\/./i.test(url),
    "the URL of a Redis server, such as redis://127.0.0.1:6379",
    "The Redis server through which processes share sessions, events and runs: redis:// or rediss://. Left out: nothing is shared.",
  ).optional(),
  listen: fitting((address) => /:\d{1,5}$/.test(address), `HOST:PORT, such as ${DEFAULT_ADDRESS}`, "")
    .meta({ description: "The host and port to listen on.", default: DEFAULT_ADDRESS })
    .optional(),
  metrics: fitting(
    (address) => /:\d{1,5}$/.test(address),
    "HOST:PORT, such as 127.0.0.1:9464",
    "An address of its own for `GET /metrics`. Left out: that of `listen`, if only this machine reaches it without a sign-in, or for clients with the token in SLUICE_METRICS_TOKEN.",
  ).optional(),
  public_url: fitting(
    isPublic,
    "an http(s) URL without query and user, such as https://sluice.example",
    "The address that clients use, if a proxy is in front.",
  ).optional(),
  hosts: z
    .array(fitting((host) => /^[^\s/@]+$/.test(host), "a host name or an address", ""))
    .max(MAX_NAMES)
    .describe("More host names and addresses at which the server answers.")
    .optional(),
  origins: z
    .array(fitting(isOrigin, "an origin without a path, such as https://app.example", ""))
    .max(MAX_NAMES)
    .describe("More origins whose pages may use the server.")
    .optional(),
  auth: auth.optional(),
  providers: z
    .record(z.string().min(1).max(MAX_TEXT), z.record(z.string(), z.unknown()))
    .describe('The OAuth providers of sources with `auth_type: "oauth2_user"`, by the names that sources use.')
    .optional(),
  drain_seconds: seconds(
    "Seconds at the end in which `GET ready` fails and everything else goes on, so that balancers stop sending requests here. Left out: 10 with state, else 0.",
  ).optional(),
  grace_seconds: seconds("Seconds at the end for running requests to finish.")
    .meta({ default: GRACE_SECONDS })
    .optional(),
  limits: limits.optional(),
  user_limits: userLimits.optional(),
  files: files.meta({ description: "Whether users have files. An object means true.", default: true }).optional(),
});

/** A checked configuration. */
export type ServeFile = z.output<typeof SCHEMA>;

function isHttp(said: string): boolean {
  if (!/^https?:\/\//i.test(said) || !URL.canParse(said)) return false;
  const { username, password } = new URL(said);
  return username === "" && password === "";
}

function isPublic(said: string): boolean {
  return isHttp(said) && new URL(said).search === "" && new URL(said).hash === "";
}
