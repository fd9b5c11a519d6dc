/**
 * What holds for every answer, whoever gives it.
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { SAFETY } from "../headers.js";
import { closingRefused } from "../refusals.js";
import type { ServeEnv, ServeTerms } from "../terms.js";

/** Adds the headers that keep an answer from being more than it is, where it has none of its own. */
export const withSafety: MiddlewareHandler<ServeEnv> = async (c, next) => {
  await next();
  const { headers } = c.res;
  for (const [name, value] of Object.entries(SAFETY)) if (!headers.has(name)) headers.set(name, value);
};

/** Refuses what comes to a server that is closed. */
export function whileOpen({ over, base }: Pick<ServeTerms, "over" | "base">): MiddlewareHandler<ServeEnv> {
  return (c, next) => {
    const isHealth = new URL(c.req.url).pathname === `${base}health`;
    return over.aborted && !isHealth ? Promise.resolve(closingRefused()) : next();
  };
}
