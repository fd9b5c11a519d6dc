/**
 * One call of a tool, in as many attempts as it takes: what each of them is given, and what comes of it.
 * @module
 */
import { namespaceOf } from "../artifacts/ids.js";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { Dialect, Sluice } from "../core/sluice.js";
import { heedless } from "../mcp/door-event.js";
import type { Args } from "./artifacts/arguments.js";
import type { ToolContext } from "./context.js";
import { endUnlessAnswered, isOwnProcess } from "./overdue.js";
import { timeoutOf } from "./patience.js";
import { aside } from "./resilience/aside.js";
import { OutOfTime, type Attempt } from "./resilience/attempt.js";
import { systemClock } from "./resilience/clock.js";
import type { ResilientCall } from "./resilience/resilience.js";
import type { ResourceReading } from "./resources/contents.js";
import { linkReader } from "./resources/link-reader.js";
import type { ResourceReader } from "./resources/reading.js";
import type { SourceCall, SourceConnection, SourceResult, SourceTool } from "./source.js";
import type { CallTime } from "./user-files/call-time.js";
import { whole } from "./user-files/whole.js";
import type { ResolvedToolConfig } from "./variables.js";

/** What a session is used for. */
export type Used = Omit<ResilientCall, "signal" | "timeoutSeconds">;

/** What is done over a session, in one attempt. */
export type Work<T> = (connection: SourceConnection, attempt: Omit<Attempt, "number">) => Promise<T>;

/** What came of a call; what links in its result led to stands beside it. */
export interface Called {
  readonly result: SourceResult;
  readonly read: readonly ResourceReading[];
}

/** A call, and what is around it. */
export interface ToolCalling {
  readonly tool: SourceTool;
  readonly args: Args;
  readonly context: ToolContext;
  /** That of what is done while the call holds its turn. */
  readonly inner: ToolContext;
  /** Given where the tool has to do with users' files: whoever keeps them goes on with the result. */
  readonly time: CallTime | undefined;
  readonly config: ResolvedToolConfig;
  /** What the source's results pass first. */
  readonly gate: Sluice;
  readonly store: ArtifactStore;
  readonly dialect: Dialect;
  readonly reader: ResourceReader;
  /** Works over the session of whoever calls. */
  readonly use: (used: Used, work: Work<SourceResult>) => Promise<SourceResult>;
}

type ReadResource = (uri: string) => Promise<unknown>;

/** Makes it. */
export async function called(calling: ToolCalling): Promise<Called> {
  const { tool, context, inner, time, config, reader, use } = calling;
  const read: ResourceReading[] = [];
  const readResource = linkReader({
    reader,
    context: inner,
    timeoutSeconds: timeoutOf(context, config.timeout_s),
    onRead: (reading) => read.push(reading),
    ...(config.artifact_extraction.resources !== undefined && { config: config.artifact_extraction.resources }),
  });
  const used = {
    isRepeatable: tool.isRepeatable,
    tool: tool.name,
    ...(time !== undefined && { silence: time.silence, isTimeoutFinal: true }),
  };
  const result = await use(used, (connection, attempt) => {
    const reading = readResource && ((uri: string) => aside(attempt, () => readResource(uri)));
    return time === undefined
      ? connection.call(sourceCall(calling, connection, attempt, reading))
      : wholly(calling, connection, attempt, reading);
  });
  return { result, read };
}

/** What a user's tool stored stays only with the whole of its result. */
function wholly(
  calling: ToolCalling,
  connection: SourceConnection,
  attempt: Omit<Attempt, "number">,
  readResource: ReadResource | undefined,
): Promise<SourceResult> {
  const { tool, context, time, config, gate, store } = calling;
  time?.begin();
  const options = {
    tool: tool.name,
    namespace: namespaceOf(config.name),
    dialect: "mcp" as const,
    scope: context.scope ?? {},
    signal: attempt.signal,
    ...(readResource !== undefined && { readResource }),
  };
  const work = async (scope: ArtifactScope): Promise<SourceResult> => {
    const result = await connection.call({ ...sourceCall(calling, connection, attempt, undefined), scope });
    // It has answered: what the store takes is not its own.
    attempt.progressed();
    return result;
  };
  return whole(work, { sluice: gate, store, options, clock: systemClock });
}

/** One attempt, as the source is given it. */
function sourceCall(
  { tool, args, context, time, config, dialect }: ToolCalling,
  connection: SourceConnection,
  attempt: Omit<Attempt, "number">,
  readResource: ReadResource | undefined,
): SourceCall {
  const { scope = {}, pause } = context;
  const onProgress = heedless(context.onProgress);
  const goesOn = config.output_transformer !== null || time !== undefined;
  return {
    tool: tool.name,
    args,
    dialect: goesOn ? "mcp" : dialect,
    scope,
    signal: attempt.signal,
    ...(readResource !== undefined && { readResource }),
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
