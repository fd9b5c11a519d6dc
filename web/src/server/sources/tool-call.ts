/**
 * A call of a tool for a session: what is told of it, and what came of it.
 * @module
 */
import type { AnswerRef } from "../../core/sluice.js";
import { SluiceError } from "../../errors/error.js";
import type { ToolContext, ToolProgress } from "../../tools/options.js";
import type { ToolResult } from "../../tools/tool-call.js";
import { announced, publicRef } from "../events/announcer.js";
import { noteTrace, scopeOf, sessionOver, type ServedSession } from "../sessions/session.js";
import type { ServeDeps } from "../deps.js";
import { askedBy } from "./pauses.js";
import type { Told } from "./session-work.js";

/** What is called. */
export interface AskedCall {
  /** `{source}.{tool}`. */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly trace: string | null;
  readonly timeoutSeconds: number | undefined;
}

/** A result as clients are told it. */
interface CallResult {
  /** JSON text, as a model sees it: of numbers no digit is lost on the way. */
  readonly observation: string;
  /** What was stored, or could not be, without whose it is. */
  readonly artifacts: readonly Omit<AnswerRef, "scope">[];
  /** Whether the tool says that it failed; the observation says how. */
  readonly is_error: boolean;
  /** Whether anything differs from what the source sent. */
  readonly changed: boolean;
  /** How the guardrail cut the observation; left out where it did not. */
  readonly cut?: { readonly original_chars: number; readonly method: string };
}

/** UTF-16 units of what a source says of its progress. */
const MAX_MESSAGE = 1000;

/** Characters of a tool's name, with its source's. */
export const MAX_NAME = 400;

/**
 * Makes a call, and announces what was stored. With `tell`, a person can be asked, and is told how it goes.
 *
 * @throws what `ServedSources.get` and `ToolNode.call` throw; SluiceError E_NOT_FOUND, and E_SESSION where the session ended
 * meanwhile.
 */
export async function calledFor(
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
  return shown(result);
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

/** A source's words may be megabytes. */
function progressEvent({ progress, total, message }: ToolProgress): Told {
  return {
    kind: "tool_progress",
    progress,
    ...(total !== undefined && { total }),
    ...(message !== undefined && { message: message.slice(0, MAX_MESSAGE) }),
  } as Told;
}

function shown({ text, artifacts, isError, changed, cut }: ToolResult): CallResult {
  return {
    observation: text,
    artifacts: artifacts.map(publicRef),
    is_error: isError,
    changed,
    ...(cut !== undefined && { cut: { original_chars: cut.originalChars, method: cut.method } }),
  };
}
