/**
 * What the folder of a user is called, which is also the `username` that tools are told.
 * @module
 */
import { sha256 } from "#hash";
import type { FileOwner } from "../user-storage.js";

/** Small letters alone: some file systems take `Ada` and `ada` for one. */
const PLAIN = /^[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9_-])?$/;
/** Names that Windows keeps for devices. */
const DEVICE = /^(?:con|prn|aux|nul|(?:com|lpt)[0-9])(?:\.|$)/;
/** What a hashed name ends with: an id that does so itself is hashed as well. */
const HASHED = /-[0-9a-f]{24}$/;
/** So many that nobody finds an id which leads to another's folder. */
const HASH_DIGITS = 24;
const MAX_BEGINNING = 24;

/**
 * The folder name and `username` of an owner: the user's id itself where it is a plain name in small letters and there is neither
 * a tenant nor a session, else a plain beginning and 24 hex digits of a hash of all three. No two owners have one, also on file
 * systems that do not tell capitals from small letters.
 */
export async function workspaceName(owner: FileOwner): Promise<string> {
  const { tenant_id: tenant = null, user_id: user, session_id: session = null } = owner;
  if (tenant === null && session === null && PLAIN.test(user) && !DEVICE.test(user) && !HASHED.test(user)) return user;
  const digest = await sha256.whole(new TextEncoder().encode(JSON.stringify([tenant, user, session])));
  return `${beginning(user)}-${digest.slice(0, HASH_DIGITS)}`;
}

/** What a person recognises of an id. */
function beginning(user: string): string {
  const plain = user.slice(0, 256).normalize("NFKD").toLowerCase();
  const letters = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-/, "");
  return letters.slice(0, MAX_BEGINNING).replace(/-$/, "") || "user";
}
