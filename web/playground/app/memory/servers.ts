/**
 * Servers as they are remembered: by name and address, without what could be a secret.
 * @module
 */
import type { ServerAddress, ShownServer } from "../../engine/messages.js";

/** A server that was connected. */
export interface KnownServer extends ServerAddress {
  /** What it needs again after a reload. */
  readonly lacks?: NonNullable<ShownServer["lacks"]>;
}

/** The server without its token, and without the parts of its address that may hold one. */
export function withoutSecrets({ name, kind, url, userFiles, token, lacks }: KnownServer): KnownServer {
  const missing = lacks ?? (token !== undefined ? "token" : kind === "http" && hasMore(url) ? "address" : undefined);
  return {
    name,
    kind,
    url: kind === "http" ? addressWithoutSecrets(url) : url,
    ...(userFiles !== undefined && { userFiles }),
    ...(missing !== undefined && { lacks: missing }),
  };
}

/** The address up to its query, which often carries a key. */
export function addressWithoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function hasMore(url: string): boolean {
  const { search, hash, username, password } = new URL(url);
  return search !== "" || hash !== "" || username !== "" || password !== "";
}

/** Why a server is not connected by itself after a reload. */
export function sentenceOfLack({ name, lacks }: KnownServer): string {
  switch (lacks) {
    case "token":
      return `${name} needs its token again: a token is not kept over a reload.`;
    case "address":
      return `${name} needs its whole address again: what is behind the ? is not kept over a reload, since it may be secret.`;
    default:
      return `${name} needs you to sign in again: a sign-in is not kept over a reload.`;
  }
}

/** A server that is about to be connected again, or that waits for what it lacks. */
export function toWaitingServer(known: KnownServer): ShownServer {
  const { name, kind, userFiles = false, lacks } = known;
  const shown = { name, kind, userFiles, tools: [] };
  if (lacks === undefined) return { ...shown, status: "connecting" };
  return { ...shown, status: "failed", lacks, problem: { code: "E_TOOL_AUTH", message: sentenceOfLack(known) } };
}
