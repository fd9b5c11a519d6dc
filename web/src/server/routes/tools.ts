/**
 * `/sources`, `/tools`, `/calls` and `/pauses`: the sources of tools, calling a tool, answering what a call asks.
 * @module
 */
import type { Hono } from "hono";
import { TRACE } from "../http/request.js";
import { lastEventId, resumableStream } from "../http/sse.js";
import { emptyAnswer, refusal } from "../http/answers.js";
import { toSaidError } from "../http/refusals.js";
import { toScope } from "../session.js";
import { CALLED, callForClient, RESULT, type AskedCall, type CallDeps, type CallResult } from "../calls/call.js";
import type { Calls } from "../calls/calls.js";
import { createPause } from "../sources/pauses.js";
import type { ServedSources } from "../sources/served-sources.js";
import { type AnswerDeps, answerWithWork, type StreamDeps, streamWork, type Told } from "../sessions/session-work.js";
import type { InSession, ServeEnv } from "../http/context.js";
import {
  answerEither,
  describeStream,
  answerJson,
  answerEmpty,
  declareOperation,
  mountRoutes,
} from "../http/operation.js";
import {
  CLOSING,
  DISPLAY,
  defineEvent,
  FAILURE,
  nameSchema,
  PAYLOAD,
  PROGRESS,
  REASON,
  RESUMING,
  WAIT,
} from "../schemas.js";
import { z } from "zod";
import type { ToolSpec } from "../../tools/registry.js";

const SOURCES = z.object({
  sources: z.array(
    z.object({
      name: z.string(),
      transport: z.enum(["mcp", "http", "utcp", "cli"]),
      description: z.string(),
      asks_consent: z.boolean().describe("Whether each user gives access to it. Its tools are known afterwards."),
    }),
  ),
  chat: z.boolean().describe("Whether there is a chat."),
  files: z.boolean().describe("Whether users have files."),
});

const SOURCE = z.object({ name: z.string().describe("The source's name.") });

/** A call or a connection that waits for a person. */
const PAUSED = defineEvent("paused", "It waits for a person.", {
  pause: z.string().describe("Answers it, at `pauses/{pause}`."),
  reason: REASON,
  payload: PAYLOAD,
});
/** The same of a call, which outlives its process from then on. */
const CALL_PAUSED = defineEvent("paused", "It waits for a person.", {
  pause: z.string().describe("Answers it, at `pauses/{pause}`. The same where a process asks again."),
  call: z.string().describe("Where the connection breaks off, `GET calls/{call}` follows the call."),
  reason: REASON,
  payload: PAYLOAD,
});
const FAILED = defineEvent("failed", "The last one, of what failed.", { error: FAILURE });

const CONNECTION_EVENT = nameSchema(
  "ConnectionEvent",
  z.discriminatedUnion("kind", [
    PAUSED,
    defineEvent("connected", "The last one, of a source that is connected.", {
      tools: z.int().describe("How many it has."),
    }),
    FAILED,
  ]),
);

interface ToolRouteDeps extends AnswerDeps, StreamDeps, CallDeps {
  readonly state: CallDeps["state"];
  readonly sources: Pick<ServedSources, "available" | "facts" | "get" | "pauses">;
  readonly calls: Pick<Calls, "find" | "follow" | "make">;
  /** Users' files, or null if the server keeps none. */
  readonly files: object | null;
  /** Whether there is a chat. */
  readonly hasChat: boolean;
  /** Aborted when streams end that clients can come back to. */
  readonly streamsEnd: AbortSignal;
}

/** Routes for sources: listing them, and connecting one, for which a person may have to consent. */
export function sourceRoutes(deps: ToolRouteDeps): Hono<ServeEnv> {
  const { sources, files, hasChat } = deps;
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "listSources",
        summary: "List the sources of tools, and what else there is",
        answers: { 200: answerJson(SOURCES, "What there is.") },
        handle: () => ({ sources: [...sources.facts], chat: hasChat, files: files !== null }),
      }),
    },
    "/:name/connection": {
      post: declareOperation({
        id: "connectSource",
        summary: "Connect a source, which may need a person's consent",
        path: SOURCE,
        answers: { 200: describeStream(CONNECTION_EVENT, "The last event is `connected` or `failed`.") },
        handle: (c, { path }) => connectSource(c, deps, path.name),
      }),
    },
  });
}

/** Sends the events `paused`, then `connected` or `failed`. */
function connectSource(c: InSession, deps: ToolRouteDeps, name: string): Response {
  const session = c.get("session");
  const { sources } = deps;
  return streamWork(c, deps, async (tell, signal) => {
    const pause = createPause(sources.pauses, session, tell, signal);
    const node = await sources.get(name, { scope: toScope(session), signal, pause });
    return { kind: "connected", tools: node.getTools().length } as Told;
  });
}

const CALL = z.strictObject({
  args: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("The arguments, as `args_schema` of the tool wants them."),
  trace: TRACE.optional().describe("The trace that its artifacts are stored under."),
  timeout_seconds: z.number().min(1).max(300).optional().describe("Seconds of silence after which it is given up."),
});

const TOOL = z.object({ name: z.string().describe("The tool, as the list has it: `{source}.{tool}`.") });

const TOOLS = z.object({
  tools: z.array(
    z.object({
      name: z.string().describe("`{source}.{tool}`."),
      source: z.string(),
      description: z.string().describe("The source's words, which are untrusted."),
      args_schema: z.record(z.string(), z.unknown()).describe("A JSON Schema of the arguments."),
    }),
  ),
  unavailable: z.array(z.object({ source: z.string(), error: FAILURE })),
});

const CALL_EVENT = nameSchema(
  "CallEvent",
  z.discriminatedUnion("kind", [
    defineEvent("tool_progress", "The call makes progress.", PROGRESS),
    defineEvent("tool_waiting", "The source is silent for long.", WAIT),
    CALL_PAUSED,
    defineEvent("tool_display", "The tool wants files shown.", { display: DISPLAY }),
    defineEvent("result", "The last one.", RESULT),
    FAILED,
    CLOSING,
  ]),
);

/** Routes for tools. A call answers with events, or with JSON if the client accepts nothing else. */
export function toolRoutes(deps: ToolRouteDeps): Hono<ServeEnv> {
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "listTools",
        summary: "List the tools of all sources",
        answers: { 200: answerJson(TOOLS, "The tools, and the sources that cannot be used now.") },
        handle: (c) => listTools(c, deps),
      }),
    },
    "/:name": {
      post: declareOperation({
        id: "callTool",
        summary: "Call a tool",
        description:
          "Answers with events, or with `Accept: application/json` with the result alone: then questions to the user are declined.",
        path: TOOL,
        body: CALL,
        headers: { Accept: "`application/json` for the result alone." },
        answers: {
          200: answerEither(
            answerJson(CALLED, "The result."),
            describeStream(CALL_EVENT, "As events: the last one is `result` or `failed`."),
          ),
        },
        refusals: [404, 502, 504, 507],
        handle: (c, { path, body: { args, trace = null, timeout_seconds } }) => {
          const asked = { name: path.name.slice(0, MAX_NAME), args, trace, timeoutSeconds: timeout_seconds };
          return wantsJson(c.req.header("accept") ?? "") ? answerCall(c, asked, deps) : streamCall(c, asked, deps);
        },
      }),
    },
  });
}

function listTools(c: InSession, deps: ToolRouteDeps): Promise<z.output<typeof TOOLS> | Response> {
  return answerWithWork(c, deps, async (signal) => {
    const { nodes, unavailable } = await deps.sources.available({ scope: toScope(c.get("session")), signal });
    const missing = unavailable.map(({ source, error }) => {
      const { code, message } = toSaidError(error, () => undefined);
      return { source, error: { code, message } };
    });
    return { tools: nodes.flatMap((node) => node.getTools().map(toListedTool)), unavailable: missing };
  });
}

function toListedTool({ name, description, input_schema, extra }: ToolSpec): z.output<typeof TOOLS>["tools"][number] {
  return { name, source: extra.namespace, description, args_schema: input_schema };
}

function answerCall(c: InSession, call: AskedCall, deps: ToolRouteDeps): Promise<CallResult | Response> {
  return answerWithWork(c, deps, (signal) => callForClient(c.get("session"), call, deps, { signal }));
}

function streamCall(c: InSession, call: AskedCall, deps: ToolRouteDeps): Response {
  return streamWork(c, deps, async (tell, signal) => {
    const result = await deps.calls.make(c.get("session"), call, tell, signal);
    return { kind: "result", ...result };
  });
}

/** Most characters of a tool's name, including its source. */
const MAX_NAME = 400;

function wantsJson(accept: string): boolean {
  return /\bapplication\/json\b/i.test(accept) && !/\btext\/event-stream\b/i.test(accept);
}

const CALL_PATH = z.object({ call: z.string().describe("The `call` of the event `paused`.") });

/** Routes for calls that asked a person: following them, in whichever process they are. */
export function callRoutes({ calls, streamsEnd }: ToolRouteDeps): Hono<ServeEnv> {
  return mountRoutes({
    "/:call": {
      get: declareOperation({
        id: "followCall",
        summary: "Follow a call that asked a person",
        description:
          "Where the process of the call died, another one makes the call again, and asks nothing again that was answered.",
        path: CALL_PATH,
        headers: RESUMING,
        answers: {
          200: describeStream(
            CALL_EVENT,
            "The events behind `Last-Event-ID`, or all since the first question. The last event is `result` or `failed`; behind `closing`, come back for more.",
          ),
        },
        refusals: [404],
        handle: async (c, { path }) => {
          const session = c.get("session");
          const place = await calls.find(session, path.call);
          if (place === null) return noCall();
          const after = lastEventId(c.req.raw);
          return resumableStream(
            (signal) => calls.follow(session, place, after, signal),
            streamsEnd,
            session.expires_at,
          );
        },
      }),
    },
  });
}

function noCall(): Response {
  return refusal(404, "E_NOT_FOUND", "There is no such call: it did not ask, is no longer kept, or never existed.");
}

const ANSWER = z.strictObject({
  answer: z
    .unknown()
    .optional()
    .describe("As `reason` and `payload` of the question want it. Null, or none, declines."),
});
const PAUSE = z.object({ pause: z.string().describe("The `pause` of the event `paused`.") });

/** Routes for answers to questions of the session, in whichever process the call waits. Null is no. */
export function pauseRoutes({ sources }: ToolRouteDeps): Hono<ServeEnv> {
  return mountRoutes({
    "/:pause": {
      post: declareOperation({
        id: "answerPause",
        summary: "Answer a call that waits for a person",
        path: PAUSE,
        body: ANSWER,
        answers: { 204: answerEmpty("It is answered.") },
        refusals: [404],
        handle: async (c, { path, body }) => {
          const isAnswered = await sources.pauses.answer(c.get("session").id, path.pause, body.answer);
          return isAnswered ? emptyAnswer() : nothingWaits();
        },
      }),
    },
  });
}

function nothingWaits(): Response {
  const message = "Nothing is waiting for this answer: the question was answered or cancelled, or timed out.";
  return refusal(404, "E_NOT_FOUND", message);
}
