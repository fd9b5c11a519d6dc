/**
 * What is told of a source's result: by the contract that it follows, by the host's transformer, or by the ordinary layers.
 * @module
 */
import type { ArtifactStore } from "../artifacts/store.js";
import { Answer } from "../core/answer.js";
import type { Dialect, GatedResult, Sluice, Transformed } from "../core/sluice.js";
import type { OnStoreFailure } from "../core/store-access.js";
import type { ToolContext } from "./context.js";
import type { ToolNodeEvent } from "./event.js";
import type { ResourceReading } from "./resources/contents.js";
import type { SourceResult, SourceTool } from "./source.js";
import type { ToolAnswer } from "./tool-answer.js";
import { through } from "./sources/body.js";
import { MAX_RAW, transformed } from "./transforming.js";
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
  readonly onStoreFailure: OnStoreFailure;
  readonly filing?: Filing;
  /** Aborted when the source is closed. */
  readonly over: AbortSignal;
  readonly onEvent: (event: ToolNodeEvent) => void;
  /** Reads links; left out where none is to be read. */
  readonly readResource?: ((uri: string) => Promise<unknown>) | undefined;
}

/** What a model or a host is told. */
export interface Told {
  readonly reduced: Transformed;
  readonly isError: boolean;
  readonly display?: ToolAnswer["display"];
}

/** A result as it is told. */
export async function answered(
  { gated, isError }: SourceResult,
  call: FileCall,
  context: ToolContext,
  terms: AnsweringTerms,
): Promise<Told> {
  const { config, filing } = terms;
  const filed = filing && (await filedResult(gated, isError, call, filing, terms));
  if (filed !== undefined) {
    return { reduced: filed, isError: filed.isError, ...(filed.display !== undefined && { display: filed.display }) };
  }
  const place = { name: call.tool, namespace: config.name };
  await using own = filing === undefined ? undefined : await again(gated, call, terms);
  const result = own ?? gated;
  const reduced = (await layered(result, place, context, terms)) ?? (await ordinary(result, call, terms));
  return { reduced, isError };
}

/** What whoever keeps files makes of a result that follows the contract. */
async function filedResult(
  gated: GatedResult,
  isError: boolean,
  call: FileCall,
  filing: Filing,
  { store }: AnsweringTerms,
): Promise<ToolAnswer | undefined> {
  const { scope, signal } = call;
  const fresh = new Set<string>();
  // The same content has the same id in its user's scope.
  for (const { id } of (await gated.answer()).artifacts) {
    if (!(await store.exists(id, scope).catch(() => true))) fresh.add(id);
  }
  return filing.result(await gated.answer({ dialect: "mcp", scope, signal }), isError, fresh, call);
}

/**
 * A result that does not follow the contract, which the gate was told to look for: it goes through as any other does. Of one that
 * is too long to be held, what that gate made of it does.
 */
async function again(gated: GatedResult, call: FileCall, { sluice }: AnsweringTerms): Promise<GatedResult> {
  const { tool, namespace, scope, signal } = call;
  const options = { tool, namespace, scope, signal, dialect: "mcp" as const, keepOriginal: MAX_RAW };
  if (gated.original !== undefined) return through(sluice, options, gated.original);
  const { text } = await gated.answer({ dialect: "observation", scope, signal });
  return through(sluice, { ...options, transformed: true }, [text]);
}

/** By the ordinary layers. */
function ordinary(
  gated: GatedResult,
  { scope, signal }: FileCall,
  { dialect, config, readResource }: AnsweringTerms,
): Promise<Transformed> {
  // A transformer's result is an observation, and so is what is told in its place.
  const told = config.output_transformer === null ? dialect : "observation";
  return gated.answer({ dialect: told, scope, signal, ...(readResource !== undefined && { readResource }) });
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

/** By the host's transformer; undefined where there is none, or it failed. */
function layered(
  gated: GatedResult,
  place: { readonly name: string; readonly namespace: string },
  context: ToolContext,
  { config, sluice, store, onStoreFailure, onEvent }: AnsweringTerms,
): Promise<Transformed | undefined> {
  if (config.output_transformer === null) return Promise.resolve(undefined);
  const tool = `${place.namespace}.${place.name}`;
  return transformed(gated, place, context, {
    sluice,
    store,
    transformer: config.output_transformer,
    input: config.transformer_input,
    onStoreFailure,
    timeout: config.transformer_timeout_s,
    onFailure: (error) => onEvent({ kind: "failed", tool, error }),
  });
}
