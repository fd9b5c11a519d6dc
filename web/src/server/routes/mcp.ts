/**
 * `/mcp/{source}`: Streamable HTTP to a source that the host offers so.
 * @module
 */
import { Hono } from "hono";
import { nothingThere } from "../refusals.js";
import type { ServeEnv, ServeDeps } from "../deps.js";

/** What the host answers; nothing where it offers none. */
export function mcpRoutes({ mcp }: Pick<ServeDeps, "mcp">): Hono<ServeEnv> {
  return new Hono<ServeEnv>().all("/:source", async (c) => {
    const source = c.req.param("source");
    return mcp?.names.has(source) === true ? mcp.answer(source, c.req.raw, c.get("session")) : nothingThere();
  });
}
