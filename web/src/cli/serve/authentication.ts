/**
 * Who may begin sessions: whoever has a token, whom a proxy names, or whom a module of the host's knows.
 * @module
 */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { MAX_SCOPE_FIELD } from "../../artifacts/scope.js";
import type { Authenticate, Identity } from "../../server/sessions/session.js";
import { CommandError, Exit } from "../exit.js";
import type { ServeFile } from "./schema.js";
import type { ServeSettings } from "./settings.js";

/** Who has the one token. */
const LOCAL: Identity = { user_id: "local" };

/** Undefined where everybody is one user. Throws CommandError, exit 2, for a module that is none. */
export async function authenticationOf({ config, token, folder }: ServeSettings): Promise<Authenticate | undefined> {
  const { tokens, header, module } = config.auth ?? {};
  if (token !== undefined) return byToken(new Map([[digest(token), LOCAL]]));
  if (tokens !== undefined) return byToken(identities(tokens));
  if (header !== undefined) return byHeader(header);
  return module === undefined ? undefined : byModule(resolve(folder, module));
}

/** Tokens are looked up by their digests: how long that takes says nothing of them. */
function byToken(known: ReadonlyMap<string, Identity>): Authenticate {
  return (request) => {
    const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    return token === undefined ? null : (known.get(digest(token)) ?? null);
  };
}

type Auth = NonNullable<ServeFile["auth"]>;

function identities(tokens: NonNullable<Auth["tokens"]>): ReadonlyMap<string, Identity> {
  const known = new Map<string, Identity>();
  for (const { token, user_id, tenant_id = null } of tokens) {
    if (known.has(digest(token))) {
      throw new CommandError(Exit.usage, '"auth.tokens" has a token twice: give each user one of their own');
    }
    known.set(digest(token), { user_id, tenant_id });
  }
  return known;
}

function byHeader({ user, tenant }: NonNullable<Auth["header"]>): Authenticate {
  return ({ headers }) => {
    const user_id = said(headers, user);
    if (user_id === null) return null;
    if (tenant === undefined) return { user_id };
    const tenant_id = said(headers, tenant);
    return tenant_id === null ? null : { user_id, tenant_id };
  };
}

/** A header that came twice is joined by a comma: one of the two is not the proxy's. */
function said(headers: Headers, name: string): string | null {
  // As the proxy said it: blanks that HTTP does not know are part of a name.
  const value = headers.get(name) ?? "";
  return value === "" || value.length > MAX_SCOPE_FIELD || value.includes(",") ? null : value;
}

function wrongModule(why: string, cause?: unknown): CommandError {
  return new CommandError(Exit.usage, `"auth.module" in the configuration ${why}`, { cause });
}

async function byModule(path: string): Promise<Authenticate> {
  let loaded: { readonly authenticate?: unknown };
  try {
    loaded = (await import(pathToFileURL(path).href)) as { readonly authenticate?: unknown };
  } catch (error) {
    throw wrongModule(
      "cannot be loaded: name a module of JavaScript, by its path from the configuration's folder",
      error,
    );
  }
  const { authenticate } = loaded;
  if (typeof authenticate !== "function") throw wrongModule("must export a function authenticate(request)");
  return (request) => authenticate(request) as ReturnType<Authenticate>;
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
