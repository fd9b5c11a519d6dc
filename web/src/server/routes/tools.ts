/**
 * `/sources`, `/tools`, `/pauses` and `/mcp`: the sources of tools, calling a tool, answering what a call asks.
 * @module
 */
import { Hono } from "hono";
import { segmentsOf, TRACE, readJson } from "../http/request.js";
import { jsonAnswer, emptyAnswer, refusal } from "../http/answers.js";
import { saidOf, nothingThere } from "../http/refusals.js";
import { scopeOf, noteTrace, sessionOver, type ServedSession } from "../sessions/session.js";
import { askedBy } from "../sources/pauses.js";
import { streamedFor, type Told, answeredFor } from "../sessions/session-work.js";
import type { InSession, ServeEnv, ServeDeps } from "../deps.js";
import { routesOf } from "./path-methods.js";
import { z } from "zod";
import type { ToolSpec } from "../../tools/registry.js";
import type { AnswerRef } from "../../core/sluice.js";
import { SluiceError } from "../../errors/error.js";
import type { ToolContext, ToolProgress, ToolResult } from "../../tools/options.js";
import { announced, publicRef } from "../sessions/announcer.js";

/** Routes for sources: listing them, and connecting one, for which a person may have to consent. */
export function sourceRoutes(deps: ServeDeps): Hono<ServeEnv> {
  const { sources, files, mcp, hasChat } = deps;
  const facts = sources.facts.map((each) => ({ ...each, has_mcp: mcp?.names.has(each.name) === true }));
  return routesOf({
    "/": { get: () => jsonAnswer({ sources: facts, chat: hasChat, files: files !== null }) },
    "/:name/connection": { post: (c) => connected(c, deps) },
  });
}

/** Sends the events `paused`, then `connected` or `failed`. */
function connected(c: InSession, deps: ServeDeps): Response {
  const session = c.get("session");
  const { sources, base } = deps;
  const [name = ""] = segmentsOf(c.req.raw, base, "sources");
  return streamedFor(c, deps, async (tell, signal) => {
    const pause = askedBy(sources.pauses, session, tell, signal);
    const node = await sources.get(name, { scope: scopeOf(session), signal, pause });
    return { kind: "connected", tools: node.getTools().length } as Told;
  });
}

const CALL = z.strictObject({
  args: z.record(z.string(), z.unknown()).default({}),
  trace: TRACE.optional(),
  timeout_seconds: z.number().min(1).max(300).optional(),
});

/** Routes for tools. A call answers with events, or with JSON if the client accepts nothing else. */
export function toolRoutes(deps: ServeDeps): Hono<ServeEnv> {
  const call = async (c: InSession): Promise<Response> => {
    const asked = await callIn(c, deps);
    return wantsJson(c.req.header("accept") ?? "") ? answered(c, asked, deps) : streamed(c, asked, deps);
  };
  return routesOf({ "/": { get: (c) => listed(c, deps) }, "/:name": { post: call } });
}

function listed(c: InSession, deps: ServeDeps): Promise<Response> {
  return answeredFor(c, deps, async (signal) => {
    const { nodes, unavailable } = await deps.sources.available({ scope: scopeOf(c.get("session")), signal });
    const missing = unavailable.map(({ source, error }) => {
      const { code, message } = saidOf(error, () => undefined);
      return { source, error: { code, message } };
    });
    return jsonAnswer({ tools: nodes.flatMap((node) => node.getTools().map(shownTool)), unavailable: missing });
  });
}

function shownTool({ name, description, input_schema, extra }: ToolSpec): object {
  return { name, source: extra.namespace, description, args_schema: input_schema };
}

async function callIn(c: InSession, { base }: ServeDeps): Promise<AskedCall> {
  const { args, trace = null, timeout_seconds } = await readJson(c.req.raw, CALL);
  const [name = ""] = segmentsOf(c.req.raw, base, "tools");
  return { name: name.slice(0, MAX_NAME), args, trace, timeoutSeconds: timeout_seconds };
}

function answered(c: InSession, call: AskedCall, deps: ServeDeps): Promise<Response> {
  return answeredFor(c, deps, async (signal) => jsonAnswer(await calledFor(c.get("session"), call, deps, { signal })));
}

function streamed(c: InSession, call: AskedCall, deps: ServeDeps): Response {
  return streamedFor(c, deps, async (tell, signal) => {
    const result = await calledFor(c.get("session"), call, deps, { signal, tell });
    return { kind: "result", ...result };
  });
}

function wantsJson(accept: string): boolean {
  return /\bapplication\/json\b/i.test(accept) && !/\btext\/event-stream\b/i.test(accept);
}

/** A call. */
interface AskedCall {
  /** `{source}.{tool}`. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly trace: string | null;
  readonly timeoutSeconds: number | undefined;
}

/** A result as clients see it. */
interface CallResult {
  /** JSON text, as a model sees it. As text it loses no digit of a number. */
  readonly observation: string;
  /** What was stored, or could not be, without its scope. */
  readonly artifacts: readonly Omit<AnswerRef, "scope">[];
  /** Whether the tool failed. The observation says how. */
  readonly is_error: boolean;
  /** Whether it differs from what the source sent. */
  readonly changed: boolean;
  /** How the guardrail cut the observation, if it did. */
  readonly cut?: { readonly original_chars: number; readonly method: string };
}

/** Most UTF-16 units of a progress message. */
const MAX_MESSAGE = 1000;

/** Most characters of a tool's name, including its source. */
const MAX_NAME = 400;

/**
 * Calls a tool, and announces what was stored. With `tell`, progress is sent and a person can be asked.
 *
 * @throws what `ServedSources.get` and `ToolNode.call` throw; SluiceError E_NOT_FOUND; E_SESSION if the session ended
 * meanwhile.
 */
async function calledFor(
  session: ServedSession,
  { name, args, trace, timeoutSeconds }: AskedCall,
  deps: ServeDeps,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell?: (event: Told) => void },
): Promise<CallResult> {
  const { sources } = deps;
  await noteTrace(session, trace, deps);
  const context: ToolContext = {
    scope: scopeOf(session, trace),
    signal,
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(tell !== undefined && {
      pause: askedBy(sources.pauses, session, tell, signal),
      onProgress: (progress) => tell(progressEvent(progress)),
      onWait: (wait) => tell({ kind: "tool_waiting", ...wait }),
    }),
  };
  const source = name.slice(0, Math.max(0, name.indexOf(".")));
  const node = await sources.get(source, context);
  const tool = node.getTools().find((each) => each.name === name);
  if (tool === undefined) throw new SluiceError("E_NOT_FOUND", "There is no tool of that name here: see GET tools.");
  const result = await tool.call(args, context);
  if (!(await announced(deps, session, result.artifacts))) throw sessionOver();
  await tellClamped(session, name, result, deps);
  if (result.display !== undefined) tell?.({ kind: "tool_display", display: result.display } as Told);
  return shownResult(result);
}

async function tellClamped(
  { id }: ServedSession,
  tool: string,
  { cut, text }: ToolResult,
  { announcer }: ServeDeps,
): Promise<void> {
  if (cut === undefined) return;
  const clamped_size = Array.from(text).length;
  await announcer.tell(id, {
    kind: "observation_clamped",
    tool,
    original_size: cut.originalChars,
    clamped_size,
    method: cut.method,
  });
}

/** Limits the message: a source may send megabytes. */
function progressEvent({ progress, total, message }: ToolProgress): Told {
  return {
    kind: "tool_progress",
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message: message.slice(0, MAX_MESSAGE) }),
  } as Told;
}

function shownResult({ text, artifacts, isError, changed, cut }: ToolResult): CallResult {
  return {
    observation: text,
    artifacts: artifacts.map(publicRef),
    is_error: isError,
    changed,
    ...(cut !== undefined && { cut: { original_chars: cut.originalChars, method: cut.method } }),
  };
}

const ANSWER = z.strictObject({ answer: z.unknown() });

/** Routes for answers to questions of the session, in whichever process the call waits. Null is no. */
export function pauseRoutes({ sources }: Pick<ServeDeps, "sources">): Hono<ServeEnv> {
  const post = async (c: InSession): Promise<Response> => {
    const { answer } = await readJson(c.req.raw, ANSWER);
    const isAnswered = await sources.pauses.answer(c.get("session").id, c.req.param("pause") ?? "", answer);
    return isAnswered ? emptyAnswer() : nothingWaits();
  };
  return routesOf({ "/:pause": { post } });
}

function nothingWaits(): Response {
  const message = "Nothing is waiting for this answer: the question was answered or cancelled, or timed out.";
  return refusal(404, "E_NOT_FOUND", message);
}

/** The MCP endpoint of a source, if the host offers it. */
export function mcpRoutes({ mcp, usage }: Pick<ServeDeps, "mcp" | "usage">): Hono<ServeEnv> {
  return new Hono<ServeEnv>().all("/:source", async (c) => {
    const source = c.req.param("source");
    if (mcp?.names.has(source) !== true) return nothingThere();
    const session = c.get("session");
    return mcp.answer(source, c.req.raw, session, () => usage.hold(session.identity, "programs"));
  });
}
