/**
 * The context of a request, as Hono's handlers get it.
 * @module
 */
import type { Context } from "hono";
import type { Identity, ServedSession } from "../session.js";

/** The variables of a Hono context. */
export interface ServeEnv {
  Variables: {
    session: ServedSession;
    /** The user who begins a session. */
    identity: Identity;
    /** Whether the session is that of a page of this server: its browser sent the cookie. */
    isPage?: boolean;
    /** When the access token ends that an MCP client came with, in milliseconds since 1970. */
    until?: number;
  };
}

/** A request within a session. */
export type InSession = Context<ServeEnv>;
