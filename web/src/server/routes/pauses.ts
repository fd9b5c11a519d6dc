/**
 * `POST /pauses/{pause}`: what a person answers while a call waits.
 * @module
 */
import { Hono } from "hono";
import { z } from "zod";
import { readJson } from "../http/request.js";
import { emptyAnswer, refusal } from "../json-answer.js";
import { methodRefused } from "../refusals.js";
import type { ServeEnv, ServeDeps } from "../deps.js";

const ANSWER = z.strictObject({ answer: z.unknown() });

/** Answers a question of the session, in whichever process its call waits; null is no. */
export function pauseRoutes({ sources }: Pick<ServeDeps, "sources">): Hono<ServeEnv> {
  return new Hono<ServeEnv>()
    .post("/:pause", async (c) => {
      const { answer } = await readJson(c.req.raw, ANSWER);
      const isAnswered = await sources.pauses.answer(c.get("session").id, c.req.param("pause"), answer);
      return isAnswered ? emptyAnswer() : nothingWaits();
    })
    .all("/:pause", () => methodRefused("POST"));
}

function nothingWaits(): Response {
  const message = "Nothing waits for this answer here: it was answered, given up, or waited for too long.";
  return refusal(404, "E_NOT_FOUND", message);
}
