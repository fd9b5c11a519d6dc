/**
 * One call of a tool by its client, and what is told of it.
 * @module
 */
import { z } from "zod";
import type { FullScope } from "../../artifacts/scope.js";
import { SluiceError } from "../../errors/error.js";
import type { ToolResult } from "../../tools/result.js";
import type { ToolContext, ToolProgress } from "../../tools/context.js";
import { nameSchema, REFERENCE } from "../schemas.js";
import { announceStored, publicRef, type AnnouncingDeps } from "../sessions/announcer.js";
import type { Told } from "../sessions/session-work.js";
import { toScope, sessionOver, type ServedSession } from "../session.js";
import { noteTrace, type SessionRegister } from "../sessions/session-register.js";
import type { ServedSources } from "../sources/served-sources.js";

/** The members of a result. */
export const RESULT = {
  observation: z.string().describe("JSON text, as a model sees it. As text it loses no digit of a number."),
  artifacts: z.array(REFERENCE).describe("What was stored of the result, or could not be."),
  is_error: z.boolean().describe("Whether the tool failed. The observation says how."),
  changed: z.boolean().describe("Whether it differs from what the source sent."),
  cut: z
    .object({ original_chars: z.number(), method: z.string() })
    .optional()
    .describe("How the observation was cut, if it was too long."),
};
/** The result of a call. */
export const CALLED = nameSchema("CallResult", z.object(RESULT));

/** A call. */
export interface AskedCall {
  /** `{source}.{tool}`. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly trace: string | null;
  readonly timeoutSeconds?: number | undefined;
}

/** What a call works with. */
export interface CallDeps extends AnnouncingDeps {
  readonly state: { readonly sessions: Pick<SessionRegister, "find" | "addTrace"> };
  readonly sources: Pick<ServedSources, "get">;
}

/** How a call is made. */
export interface CallHow extends Pick<ToolContext, "dialect" | "showImages"> {
  readonly signal: AbortSignal;
  /** Receives progress, and files to show. */
  readonly tell?: (event: Told) => void;
  /** Asks a person. Without it what would be asked is declined. */
  readonly pause?: NonNullable<ToolContext["pause"]>;
}

/** A result as clients see it. */
export type CallResult = z.output<typeof CALLED>;

/**
 * Calls a tool for a client of REST. Throws like {@link callTool}.
 */
export async function callForClient(
  session: ServedSession,
  call: AskedCall,
  deps: CallDeps,
  how: CallHow,
): Promise<CallResult> {
  return toCallResult(await callTool(session, call, deps, how));
}

/**
 * Calls a tool, and announces what was stored.
 *
 * @throws what `invokeTool` throws; SluiceError E_SESSION if the session ended meanwhile.
 */
export async function callTool(
  session: ServedSession,
  call: AskedCall,
  deps: CallDeps,
  how: CallHow,
): Promise<ToolResult> {
  await noteTrace(session, call.trace, deps);
  const result = await invokeTool(toScope(session, call.trace), call, deps, how);
  if (!(await announceStored(deps, session, result.artifacts))) throw sessionOver();
  await tellClamped(session, call.name, result, deps);
  if (result.display !== undefined) how.tell?.({ kind: "tool_display", display: result.display } as Told);
  return result;
}

/**
 * Calls a tool of a source for a user, without announcing what was stored.
 *
 * @throws what `ServedSources.get` and `ToolNode.call` throw; SluiceError E_NOT_FOUND.
 */
export async function invokeTool(
  scope: FullScope,
  { name, args, timeoutSeconds }: Omit<AskedCall, "trace">,
  { sources }: Pick<CallDeps, "sources">,
  { tell, pause, ...how }: CallHow,
): Promise<ToolResult> {
  const context: ToolContext = {
    ...how,
    scope,
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
    ...(pause !== undefined && { pause }),
    ...(tell !== undefined && {
      onProgress: (progress) => tell(progressEvent(progress)),
      onWait: (wait) => tell({ kind: "tool_waiting", ...wait }),
    }),
  };
  const source = name.slice(0, Math.max(0, name.indexOf(".")));
  const node = await sources.get(source, context);
  const tool = node.getTools().find((each) => each.name === name);
  if (tool === undefined) throw new SluiceError("E_NOT_FOUND", "There is no tool of that name here: see GET tools.");
  return tool.call(args, context);
}

async function tellClamped(
  { id }: ServedSession,
  tool: string,
  { cut, text }: ToolResult,
  { announcer }: CallDeps,
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

function progressEvent({ progress, total, message }: ToolProgress): Told {
  return {
    kind: "tool_progress",
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message }),
  } as Told;
}

function toCallResult({ text, artifacts, isError, changed, cut }: ToolResult): CallResult {
  return {
    observation: text,
    artifacts: artifacts.map(publicRef),
    is_error: isError,
    changed,
    ...(cut !== undefined && { cut: { original_chars: cut.originalChars, method: cut.method } }),
  };
}
