/**
 * `GET /health` and `GET /ready`, for load balancers.
 * @module
 */
import type { Hono } from "hono";
import { z } from "zod";
import { jsonAnswer } from "../http/answers.js";
import type { ServeEnv } from "../http/context.js";
import type { Readiness } from "../http/readiness.js";
import { answerJson, declareOperation, mountRoutes } from "../http/operation.js";

const PART = z.enum(["ok", "away"]);
const HEALTH = z.object({ status: z.enum(["ok", "closing", "starting"]) });
const READY = z.object({
  status: z.enum(["ok", "away", "closing", "starting"]),
  state: PART.optional().describe("What sessions are kept in."),
  store: PART.optional().describe("What artifacts are kept in."),
  files: PART.optional().describe("What users' files are kept in, if there are any."),
});

interface HealthRouteDeps {
  readonly readiness: Pick<Readiness, "look">;
  /** Aborted before the server is closed, when `ready` begins to fail. */
  readonly draining: AbortSignal;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
}

/** `GET /health`: 200 while the process serves, 503 while it closes. Asks no store. */
export function healthRoutes({ over }: HealthRouteDeps): Hono<ServeEnv> {
  const look = (): Response => (over.aborted ? jsonAnswer({ status: "closing" }, 503) : jsonAnswer({ status: "ok" }));
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "checkHealth",
        summary: "Tell whether the process serves",
        tag: "server",
        isOpen: true,
        answers: { 200: answerJson(HEALTH, "It serves."), 503: answerJson(HEALTH, "It is starting, or closing.") },
        handle: look,
      }),
    },
  });
}

/** `GET /ready`: 503 from when the server is about to close, or while a store or the state cannot be reached. Names which. */
export function readyRoutes({ draining, readiness }: HealthRouteDeps): Hono<ServeEnv> {
  const look = async (): Promise<Response> => {
    if (draining.aborted) return jsonAnswer({ status: "closing" }, 503);
    const parts = [...(await readiness.look())];
    const isReady = parts.every(([, isAway]) => !isAway);
    const said = Object.fromEntries(parts.map(([part, isAway]) => [part, isAway ? "away" : "ok"]));
    return jsonAnswer({ status: isReady ? "ok" : "away", ...said }, isReady ? 200 : 503);
  };
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "checkReadiness",
        summary: "Tell whether the stores can be reached",
        tag: "server",
        isOpen: true,
        answers: {
          200: answerJson(READY, "All can be reached."),
          503: answerJson(READY, "A part is away, or the server is starting, closing, or about to close."),
        },
        handle: look,
      }),
    },
  });
}
