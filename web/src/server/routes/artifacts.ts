/**
 * `/artifacts`: list, upload, download, delete.
 * @module
 */
import { Hono } from "hono";
import { artifactHandler } from "../artifact-handler.js";
import { methodRefused, nothingThere } from "../refusals.js";
import { scopeOf } from "../sessions/session.js";
import type { InSession, ServeEnv, ServeTerms } from "../terms.js";

/** The session's artifacts; with `?trace=` those of one of its runs. */
export function artifactRoutes(terms: ServeTerms): Hono<ServeEnv> {
  const { store, base, seen } = terms;
  const served = async (c: InSession): Promise<Response> => {
    const scope = scopeOf(c.get("session"), c.req.query("trace") ?? null);
    return (await artifactHandler({ store, scope, base, seen })(c.req.raw)) ?? nothingThere();
  };
  return new Hono<ServeEnv>()
    .get("/:id", served)
    .get("/:id/meta", served)
    .all("*", () => methodRefused("GET"));
}
