/**
 * One call of a tool, in as many attempts as it takes: what each of them is given, and what comes of it.
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { Dialect } from "../core/sluice.js";
import { heedless } from "../mcp/door-event.js";
import type { Args } from "./artifacts.js";
import type { ToolContext } from "./context.js";
import { endUnlessAnswered, isOwnProcess } from "./sessions.js";
import { OutOfTime, type Attempt } from "./resilience/attempt.js";
import { systemClock } from "./resilience/clock.js";
import type { ResilientCall } from "./resilience/resilience.js";
import type { SourceCall, SourceConnection, SourceResult, SourceTool } from "./source.js";
import type { CallTime } from "./user-files/call-time.js";
import { MAX_RAW } from "./transforming.js";
import { whole } from "./user-files/whole.js";
import type { ResolvedToolConfig } from "./variables.js";

/** What a session is used for. */
export type Used = Omit<ResilientCall, "signal" | "timeoutSeconds">;

/** What is done over a session, in one attempt. */
export type Work<T> = (connection: SourceConnection, attempt: Omit<Attempt, "number">) => Promise<T>;

/** A call, and what is around it. */
export interface ToolCalling {
  readonly tool: SourceTool;
  readonly args: Args;
  readonly context: ToolContext;
  /** Given where the tool has to do with users' files: whoever keeps them goes on with the result. */
  readonly time: CallTime | undefined;
  readonly config: ResolvedToolConfig;
  readonly store: ArtifactStore;
  readonly dialect: Dialect;
  /** Works over the session of whoever calls. */
  readonly use: (used: Used, work: Work<SourceResult>) => Promise<SourceResult>;
}

/** Makes it. What came of it is disposed of by whoever gets it. */
export async function called(calling: ToolCalling): Promise<SourceResult> {
  const { tool, context, time, store, use } = calling;
  const used = {
    isRepeatable: tool.isRepeatable,
    tool: tool.name,
    ...(time !== undefined && { silence: time.silence, isTimeoutFinal: true }),
  };
  const made = async (connection: SourceConnection, attempt: Omit<Attempt, "number">): Promise<SourceResult> => {
    if (time === undefined) return connection.call(sourceCall(calling, connection, attempt));
    time.begin();
    const work = (scope: ArtifactScope): Promise<SourceResult> =>
      connection.call({ ...sourceCall(calling, connection, attempt), scope });
    // What a user's tool stored stays only with the whole of its result.
    return whole(work, context.scope ?? {}, store, systemClock);
  };
  return use(used, async (connection, attempt) => {
    const result = await made(connection, attempt);
    attempt.progressed();
    if (attempt.signal.aborted) {
      // Nobody takes it any more.
      await result.gated[Symbol.asyncDispose]();
      attempt.signal.throwIfAborted();
    }
    return result;
  });
}

/** One attempt, as the source is given it. */
function sourceCall(
  { tool, args, context, time, config, dialect }: ToolCalling,
  connection: SourceConnection,
  attempt: Omit<Attempt, "number">,
): SourceCall {
  const { scope = {}, pause } = context;
  const onProgress = heedless(context.onProgress);
  const { output_transformer, transformer_input } = config;
  const isTransformed = output_transformer !== null;
  const keepsOriginal = time !== undefined || (isTransformed && transformer_input === "raw");
  return {
    tool: tool.name,
    args,
    dialect: isTransformed || time !== undefined ? "mcp" : dialect,
    keepOriginal: keepsOriginal ? MAX_RAW : 0,
    scope,
    signal: attempt.signal,
    ...(pause !== undefined && { pause }),
    unhurried: (work) => attempt.unhurried(work),
    alive: () => attempt.progressed(),
    onProgress: (progress) => {
      attempt.progressed();
      time?.progressed(progress);
      onProgress(progress);
    },
    ...(isOwnProcess(config) && {
      onGivenUp: (isAnswered) => {
        // Whoever takes a call back may want the next one at once: a source that is slow alone is at fault.
        if (attempt.signal.reason instanceof OutOfTime) endUnlessAnswered(connection, isAnswered, systemClock);
      },
    }),
  };
}
