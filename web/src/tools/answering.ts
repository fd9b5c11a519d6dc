/**
 * What is told of a source's result: by the contract that it follows, by the host's transformer, or by the ordinary layers.
 * @module
 */
import type { ArtifactStore } from "../artifacts/store.js";
import { Answer } from "../core/answer.js";
import type { Dialect, Sluice, Transformed } from "../core/sluice.js";
import type { ToolContext } from "./context.js";
import type { ToolNodeEvent } from "./event.js";
import type { ResourceReading } from "./resources/contents.js";
import type { SourceResult, SourceTool } from "./source.js";
import type { ToolAnswer } from "./tool-answer.js";
import { ordinary, transformed } from "./transforming.js";
import type { Filing } from "./user-files/filing.js";
import type { FileCall } from "./user-files/handling.js";
import { takesUsername } from "./user-files/username.js";
import type { ResolvedToolConfig } from "./variables.js";

/** What answering needs of a running source. */
export interface AnsweringTerms {
  readonly config: ResolvedToolConfig;
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly dialect: Dialect;
  readonly filing?: Filing;
  /** Aborted when the source is closed. */
  readonly over: AbortSignal;
  readonly onEvent: (event: ToolNodeEvent) => void;
}

/** What a model or a host is told. */
export interface Told {
  readonly reduced: Transformed;
  readonly isError: boolean;
  readonly display?: ToolAnswer["display"];
}

/** A result in the mcp dialect, where a contract or a transformer goes on with it, as it is told. */
export async function answered(
  result: SourceResult,
  call: FileCall,
  context: ToolContext,
  terms: AnsweringTerms,
): Promise<Told> {
  const { config, sluice, dialect, filing } = terms;
  const { reduced, isError } = result;
  const place = { name: call.tool, namespace: config.name };
  const filed = await filing?.result(result, call);
  if (filed !== undefined) {
    return { reduced: filed, isError: filed.isError, ...(filed.display !== undefined && { display: filed.display }) };
  }
  if (config.output_transformer !== null) return { reduced: await layered(reduced, place, context, terms), isError };
  if (filing === undefined || dialect === "mcp") return { reduced, isError };
  return { reduced: await ordinary(reduced, place, context, sluice), isError };
}

/** The call as those who keep files know it. */
export function fileCallOf(
  { name, input_schema }: SourceTool,
  { scope = {}, signal }: ToolContext,
  { config, over }: Pick<AnsweringTerms, "config" | "over">,
): FileCall {
  const place = { tool: name, namespace: config.name, takesUsername: takesUsername(input_schema) };
  return { ...place, scope, signal: signal ?? over };
}

/** An answer with what the links in it led to, which the core did not store itself. */
export function withRead(answer: Transformed, read: readonly ResourceReading[]): Transformed {
  if (read.length === 0) return answer;
  const known = new Set(answer.artifacts.map(({ id }) => id));
  const more = read.flatMap(({ artifacts }) => artifacts).filter(({ id }) => !known.has(id));
  return new Answer({
    ...answer,
    refs: answer.refs,
    artifacts: [...answer.artifacts, ...new Map(more.map((ref) => [ref.id, ref])).values()],
    failures: [...answer.failures, ...read.flatMap(({ failures }) => failures)],
  });
}

/** By the host's transformer. */
function layered(
  reduced: Transformed,
  place: { readonly name: string; readonly namespace: string },
  context: ToolContext,
  { config, sluice, store, onEvent }: AnsweringTerms,
): Promise<Transformed> {
  if (config.output_transformer === null) return Promise.resolve(reduced);
  const tool = `${place.namespace}.${place.name}`;
  return transformed(reduced, place, context, {
    sluice,
    store,
    transformer: config.output_transformer,
    input: config.transformer_input,
    timeout: config.transformer_timeout_s,
    onFailure: (error) => onEvent({ kind: "failed", tool, error }),
  });
}
