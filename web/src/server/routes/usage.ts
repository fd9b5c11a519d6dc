/**
 * `GET /usage`: what the session's user uses of the limits that are set.
 * @module
 */
import type { Hono } from "hono";
import { z } from "zod";
import type { ServeEnv } from "../http/context.js";
import { inStoreTime, type StoreTimeouts } from "../http/time-limit.js";
import { TIME } from "../schemas.js";
import type { UserUsage } from "../usage/user-usage.js";
import { answerJson, declareOperation, mountRoutes } from "../http/operation.js";

const USE = z.object({
  used: z.number(),
  limit: z.number(),
  resets_at: TIME.optional().describe("When it resets, if it does."),
});
const USAGE = z.object({ limits: z.record(z.string(), USE).describe("The limits that are set, by their names.") });

interface UsageRouteDeps extends StoreTimeouts {
  readonly usage: Pick<UserUsage, "shown">;
}

/** The user's own use. */
export function usageRoutes(deps: UsageRouteDeps): Hono<ServeEnv> {
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "showUsage",
        summary: "Tell what the user uses of the limits",
        isFree: true,
        answers: { 200: answerJson(USAGE, "What is used of each limit.") },
        handle: async (c) => ({ limits: await inStoreTime(deps, deps.usage.shown(c.get("session").identity)) }),
      }),
    },
  });
}
