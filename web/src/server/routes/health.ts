/**
 * `GET /health`.
 * @module
 */
import { Hono } from "hono";
import { jsonAnswer } from "../json-answer.js";
import { methodRefused } from "../refusals.js";
import type { ServeEnv, ServeTerms } from "../terms.js";

/** 200 while it serves, 503 while it closes: for whoever spreads requests over several. Asks no store. */
export function healthRoutes({ over }: ServeTerms): Hono<ServeEnv> {
  return new Hono<ServeEnv>()
    .get("/", () => (over.aborted ? jsonAnswer({ status: "closing" }, 503) : jsonAnswer({ status: "ok" })))
    .all("/", () => methodRefused("GET, HEAD"));
}
