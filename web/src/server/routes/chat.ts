/**
 * `/chat`: asking a model that has the tools of all sources.
 * @module
 */
import { Hono } from "hono";
import { z } from "zod";
import { SluiceError } from "../../errors/error.js";
import { noSuchRun } from "../chat/chat-event.js";
import type { Chats, StartedRun } from "../chat/chats.js";
import { readJson, readQuery, TRACE } from "../http/request.js";
import { eventStream, lastEventId, type SentEvent } from "../http/sse.js";
import { emptyAnswer, refusal } from "../http/answers.js";
import { closingRefused, sessionRefused } from "../http/refusals.js";
import type { InSession, ServeEnv, ServeDeps } from "../deps.js";
import { UserLimitReached } from "../usage/user-limits.js";
import { routesOf } from "./path-methods.js";

/** Most UTF-16 units of a question, and of an earlier answer. */
const MAX_QUERY = 32 * 1024;
const MAX_ANSWER = 64 * 1024;
/** Most earlier questions. */
const MAX_CONVERSATION = 100;

const ASKED = z.strictObject({
  query: z
    .string()
    .max(MAX_QUERY)
    .refine((query) => query.trim() !== "", "it must not be empty"),
  conversation: z
    .array(z.strictObject({ query: z.string().max(MAX_QUERY), answer: z.string().max(MAX_ANSWER) }))
    .max(MAX_CONVERSATION)
    .default([]),
  trace: TRACE.nullable().default(null),
  max_parallel: z.int().min(1).max(50).nullable().default(null),
  timeout_seconds: z.number().min(1).max(300).nullable().default(null),
});

const ANSWERED = z.strictObject({ resume_token: z.string().max(200), answer: z.unknown() });

/** A step and the id of one of its calls. */
const STOPPED = z.object({
  call: z
    .string()
    .regex(/^\d{1,6} [^]{1,256}$/, "it must be a step and a call's id")
    .optional(),
});

/** Routes to ask, follow, answer pauses and give up. `chats` is null without a model. */
export function chatRoutes(chats: Chats | null, deps: Pick<ServeDeps, "over">): Hono<ServeEnv> {
  if (chats === null) return new Hono<ServeEnv>().all("*", () => noModel());
  return routesOf({
    "/": {
      post: async (c) => {
        const asked = await readJson(c.req.raw, ASKED);
        return streamed(c, chats, deps, () => chats.begin(c.get("session"), asked));
      },
    },
    "/resume": {
      post: async (c) => {
        const { resume_token, answer } = await readJson(c.req.raw, ANSWERED);
        return streamed(c, chats, deps, () => chats.resume(c.get("session"), resume_token, answer));
      },
    },
    "/:run": {
      get: async (c) => {
        const session = c.get("session");
        const place = await chats.find(session, c.req.param("run") ?? "");
        if (place === null) return noRun();
        const after = lastEventId(c.req.raw);
        return eventStream((signal) => chats.follow(session, place, after, signal), deps.over, session.expires_at);
      },
      delete: async (c) => {
        const { call } = readQuery(c.req.raw, STOPPED);
        const place = await chats.find(c.get("session"), c.req.param("run") ?? "");
        if (place === null) return noRun();
        await chats.giveUp(place, call);
        return emptyAnswer();
      },
    },
  });
}

async function streamed(
  c: InSession,
  chats: Chats,
  { over }: Pick<ServeDeps, "over">,
  start: () => Promise<StartedRun>,
): Promise<Response> {
  const session = c.get("session");
  let started: StartedRun;
  try {
    started = await start();
  } catch (error) {
    if (over.aborted) return closingRefused();
    if (!(error instanceof SluiceError)) throw error;
    if (error instanceof UserLimitReached) throw error;
    if (error.code === "E_RATE_LIMIT") return refusal(429, error.code, error.message, { "Retry-After": "5" });
    if (error.code === "E_SESSION") return sessionRefused();
    if (error.code === "E_NOT_FOUND") return noRun();
    throw error;
  }
  const { place, first } = started;
  const events = async function* (signal: AbortSignal): AsyncIterable<SentEvent> {
    yield { id: first.id, data: first.event };
    yield* chats.follow(session, place, first.id, signal);
  };
  return eventStream(events, over, session.expires_at);
}

/** Our own words: the planner has others. */
function noRun(): Response {
  const { code, message } = noSuchRun();
  return refusal(404, code, message);
}

function noModel(): Response {
  return refusal(404, "E_NOT_FOUND", "This server has no chat: no model is configured.");
}
