/**
 * The methods that each path of a router has; any other is refused.
 * @module
 */
import { Hono } from "hono";
import { methodRefused } from "../http/refusals.js";
import type { InSession, ServeEnv } from "../deps.js";

type Method = "get" | "post" | "put" | "patch" | "delete";

type Handlers = Partial<Readonly<Record<Method, (c: InSession) => Response | Promise<Response>>>>;

/** Serves paths in this order. A method that a path does not have is refused. `get` answers `HEAD` too. */
export function routesOf(paths: Readonly<Record<string, Handlers>>): Hono<ServeEnv> {
  const app = new Hono<ServeEnv>();
  for (const [path, handlers] of Object.entries(paths)) {
    for (const [method, handle] of Object.entries(handlers)) app.on(method.toUpperCase(), path, handle);
    const allowed = Object.keys(handlers).map((method) => (method === "get" ? "GET, HEAD" : method.toUpperCase()));
    app.all(path, () => methodRefused(allowed.join(", ")));
  }
  return app;
}
