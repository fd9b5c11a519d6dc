/**
 * `/chat`: asking a model that has the tools of all sources.
 * @module
 */
import { Hono } from "hono";
import { z } from "zod";
import { SluiceError } from "../../errors/error.js";
import { noSuchRun } from "../chat/chat-event.js";
import type { Chats, StartedRun } from "../chat/chats.js";
import { TRACE } from "../http/request.js";
import { lastEventId, resumableStream, type SentEvent } from "../http/sse.js";
import { emptyAnswer, refusal } from "../http/answers.js";
import { closingRefused, sessionRefused } from "../http/refusals.js";
import type { InSession, ServeEnv } from "../http/context.js";
import { CHAT_EVENT } from "../chat/event-schema.js";
import { describeStream, answerEmpty, declareOperation, mountRoutes } from "../http/operation.js";
import { RESUMING } from "../schemas.js";
import { UserLimitReached } from "../usage/user-limits.js";

/** Most UTF-16 units of a question, and of an earlier answer. */
const MAX_QUERY = 32 * 1024;
const MAX_ANSWER = 64 * 1024;
/** Most earlier questions. */
const MAX_CONVERSATION = 100;

const ASKED = z.strictObject({
  query: z
    .string()
    .max(MAX_QUERY)
    .refine((query) => query.trim() !== "", "it must not be empty")
    .meta({ description: "The question.", pattern: String.raw`\S` }),
  conversation: z
    .array(z.strictObject({ query: z.string().max(MAX_QUERY), answer: z.string().max(MAX_ANSWER) }))
    .max(MAX_CONVERSATION)
    .default([])
    .describe("Earlier questions and answers, oldest first."),
  trace: TRACE.nullable().default(null).describe("The trace that its artifacts are stored under."),
  max_parallel: z.int().min(1).max(50).nullable().default(null).describe("Most calls at the same time."),
  timeout_seconds: z
    .number()
    .min(1)
    .max(300)
    .nullable()
    .default(null)
    .describe("Seconds of silence after which a call is given up."),
});

const ANSWERED = z.strictObject({
  resume_token: z.string().max(200).describe("The one of the event `pause`."),
  answer: z.unknown().optional().describe("What the person says. Null, or none, declines."),
});

const PATH = z.object({ run: z.string().describe("The `run` of the event `run_started`.") });

const LAST = "The last event is `result`, `pause` or `failed`.";

/** A step and the id of one of its calls. */
const STOPPED = z.object({
  call: z
    .string()
    .regex(/^\d{1,6} [^]{1,256}$/, "it must be a step and a call's id")
    .optional()
    .describe("Gives up this call alone: its step, a space, and its id."),
});

interface ChatRouteDeps {
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
  /** Aborted before that, when streams end that clients can come back to. */
  readonly streamsEnd: AbortSignal;
}

/** Routes to ask, follow, answer pauses and give up. `chats` is null without a model. */
export function chatRoutes(chats: Chats | null, deps: ChatRouteDeps): Hono<ServeEnv> {
  if (chats === null) return new Hono<ServeEnv>().all("*", () => noModel());
  return mountRoutes({
    "/": {
      post: declareOperation({
        id: "startRun",
        summary: "Ask the model, which has the tools of all sources",
        description: "The run goes on when its client leaves: come back with `GET chat/{run}`.",
        body: ASKED,
        answers: { 200: describeStream(CHAT_EVENT, `First \`run_started\`. ${LAST}`) },
        refusals: [502, 504, 507],
        handle: (c, { body }) => streamRun(c, chats, deps, () => chats.start(c.get("session"), body)),
      }),
    },
    "/resume": {
      post: declareOperation({
        id: "resumeRun",
        summary: "Answer what a run waits for, once",
        body: ANSWERED,
        answers: { 200: describeStream(CHAT_EVENT, `First \`run_resumed\`. ${LAST}`) },
        refusals: [404, 502, 504, 507],
        handle: (c, { body: { resume_token, answer } }) =>
          streamRun(c, chats, deps, () => chats.resume(c.get("session"), resume_token, answer)),
      }),
    },
    "/:run": {
      get: declareOperation({
        id: "followRun",
        summary: "Follow a run",
        description:
          "Where the process of the run died, another one goes on with it, from the last step that was done.",
        path: PATH,
        headers: RESUMING,
        answers: { 200: describeStream(CHAT_EVENT, `The events behind \`Last-Event-ID\`, or all. ${LAST}`) },
        refusals: [404],
        handle: async (c, { path }) => {
          const session = c.get("session");
          const place = await chats.find(session, path.run);
          if (place === null) return noRun();
          const after = lastEventId(c.req.raw);
          const events = (signal: AbortSignal): AsyncIterable<SentEvent> => chats.follow(session, place, after, signal);
          return resumableStream(events, deps.streamsEnd, session.expires_at);
        },
      }),
      delete: declareOperation({
        id: "cancelRun",
        summary: "Give up a run, or one of its calls",
        path: PATH,
        query: STOPPED,
        answers: { 204: answerEmpty("It is given up.") },
        refusals: [404],
        handle: async (c, { path, query }) => {
          const place = await chats.find(c.get("session"), path.run);
          if (place === null) return noRun();
          await chats.giveUp(place, query.call);
          return emptyAnswer();
        },
      }),
    },
  });
}

async function streamRun(
  c: InSession,
  chats: Chats,
  { over, streamsEnd }: ChatRouteDeps,
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
  return resumableStream(events, streamsEnd, session.expires_at);
}

/** Our own words: the planner has others. */
function noRun(): Response {
  const { code, message } = noSuchRun();
  return refusal(404, code, message);
}

function noModel(): Response {
  return refusal(404, "E_NOT_FOUND", "This server has no chat: no model is configured.");
}
