/**
 * Sources as MCP servers, for pages that are clients themselves.
 * @module
 */
import type { ServedSession } from "./sessions/session.js";

/** Offers sources over Streamable HTTP, bytes as they are. */
export interface ServedMcp {
  /** Names of the sources that it offers. */
  readonly names: ReadonlySet<string>;
  /** Answers a request at `mcp/{source}`. What one session began there is found by no other. */
  readonly answer: (source: string, request: Request, session: ServedSession) => Promise<Response>;
  /** Ends what a session, named by its id, began. Must not throw. */
  readonly end: (session: string) => Promise<void>;
}
