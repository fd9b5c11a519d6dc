/**
 * `/sources`: what tools and resources come from.
 * @module
 */
import { Hono } from "hono";
import { segmentsOf } from "../http/request.js";
import { jsonAnswer } from "../json-answer.js";
import { methodRefused } from "../refusals.js";
import { scopeOf } from "../sessions/session.js";
import { askedBy } from "../sources/pauses.js";
import { streamedFor, type Told } from "../sources/session-work.js";
import type { InSession, ServeEnv, ServeDeps } from "../deps.js";

/** What there is, connected or not; and connecting one, for which a person may have to give access. */
export function sourceRoutes(deps: ServeDeps): Hono<ServeEnv> {
  const { sources, files, mcp, hasChat } = deps;
  const facts = sources.facts.map((each) => ({ ...each, has_mcp: mcp?.names.has(each.name) === true }));
  return new Hono<ServeEnv>()
    .get("/", () => jsonAnswer({ sources: facts, chat: hasChat, files: files !== null }))
    .all("/", () => methodRefused("GET, HEAD"))
    .post("/:name/connection", (c) => connected(c, deps))
    .all("/:name/connection", () => methodRefused("POST"));
}

/** Events: `paused`, and then `connected` or `failed`. */
function connected(c: InSession, deps: ServeDeps): Response {
  const session = c.get("session");
  const { sources, base } = deps;
  const [name = ""] = segmentsOf(c.req.raw, base, "sources");
  return streamedFor(c, deps, async (tell, signal) => {
    const pause = askedBy(sources.pauses, session, tell, signal);
    const node = await sources.get(name, { scope: scopeOf(session), signal, pause });
    return { kind: "connected", tools: node.getTools().length } as Told;
  });
}
