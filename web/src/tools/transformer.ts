/**
 * Layer 5: a transformer of the host's own in place of the ordinary layers (RFC 0.3 §4.1, §4.3; design §4).
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { ToolArtifacts, withoutScope } from "../artifacts/tool-artifacts.js";
import type { TruncatedRef } from "../artifacts/unstored.js";
import { untilLate } from "../core/abort.js";
import { Answer } from "../core/transformed.js";
import type { AnswerRef, GatedResult, Transformed } from "../core/sluice.js";
import type { SluiceError } from "../errors/error.js";
import { isStoreFailure } from "../errors/storage.js";
import type { ToolContext } from "./context.js";
import { ToolNodeError } from "./errors.js";
import type { RunningTerms } from "./running-source.js";

/** Bytes of a result that is held as it came, at most. */
export const MAX_RAW: number = 8 * 1024 * 1024;

/** A stored part of a result, as a transformer may use it. */
export interface Segment {
  /** Its id, and what is known of it. JSON of it does not name its scope. */
  readonly ref: AnswerRef;
  /** Its bytes; null when it was not stored or is gone. */
  open(): Promise<ReadableStream<Uint8Array> | null>;
}

/** What a transformer is told beside the document. */
export interface TransformerContext extends ToolContext {
  /** Parts of the result that were stored; the document refers to them. */
  readonly segments: readonly Segment[];
  /** Stores and reads more, for whoever calls the tool. */
  readonly artifacts: ToolArtifacts;
}

/**
 * Gives a result to the transformer, and what it returns to the gate, the limits of size and the guardrail. Undefined where there
 * is none, or it throws, takes too long, or returns what is not JSON: the ordinary layers answer for it.
 *
 * @param gated the result, which can be written in the mcp dialect.
 * @param tool the source's own name of the tool.
 */
export async function transformed(
  gated: GatedResult,
  tool: string,
  context: ToolContext & { readonly signal: AbortSignal },
  { config, sluice, store, onStoreFailure, onEvent }: RunningTerms,
): Promise<Transformed | undefined> {
  const {
    name: namespace,
    output_transformer: transformer,
    transformer_input,
    transformer_timeout_s: seconds,
  } = config;
  if (transformer === null) return undefined;
  const { scope = {}, signal } = context;
  const reduced = await gated.answer({ scope, signal, dialect: "mcp" });
  const made: (ArtifactRef | TruncatedRef)[] = [];
  const failed: SluiceError[] = [];
  const artifacts = new ToolArtifacts(store, {
    scope,
    namespace,
    source: { tool },
    onStored: (ref) => made.push(ref),
    ...(onStoreFailure === "answer" && { onFailure: (error: SluiceError) => void failed.push(error) }),
  });
  // Bytes that it returns may still come: they are its time too.
  const applied = async (over: AbortSignal): Promise<Transformed> => {
    const segments = reduced.artifacts.map((ref) => segmentOf(ref, store, scope));
    const document = transformer_input === "raw" ? await raw(gated) : reduced.value;
    const value = await transformer(tool, document, { ...context, artifacts, segments });
    return sluice.transform(value ?? null, { scope, signal: over, tool, namespace, transformed: true });
  };
  try {
    const late = (): Error => new Error(`${tool} took more than ${seconds} s`);
    const told = await untilLate(applied, { most: seconds * 1000, late, signal });
    const refs = [...reduced.artifacts, ...made, ...told.artifacts];
    return new Answer({
      ...told,
      refs: undefined,
      artifacts: [...new Map(refs.map((ref) => [ref.id, ref])).values()],
      failures: [...reduced.failures, ...failed, ...told.failures],
      changed: true,
      bytesIn: reduced.bytesIn,
    });
  } catch (error) {
    signal.throwIfAborted();
    // Where that is to be thrown, what the store fails at is no fault of the transformer's.
    if (onStoreFailure === "throw" && isStoreFailure(error)) throw error;
    onEvent({ kind: "failed", tool: `${namespace}.${tool}`, error: failure(tool, error) });
    return undefined;
  }
}

/** The result as the source sent it. Throws a ToolNodeError where it is too long to be held. */
async function raw({ original }: GatedResult): Promise<unknown> {
  if (original !== undefined) return JSON.parse(await new Blob([...original] as BlobPart[]).text()) as unknown;
  throw new ToolNodeError(`a raw result may have ${MAX_RAW / 1024 / 1024} MiB at most`);
}

function segmentOf(ref: AnswerRef, store: ArtifactStore, scope: ArtifactScope): Segment {
  const open = async (): Promise<ReadableStream<Uint8Array> | null> => {
    if (ref.source["truncated"] === true) return null;
    return store.openReader(ref.id, { scope });
  };
  // A transformer may return it.
  return { ref: withoutScope(ref), open };
}

function failure(tool: string, cause: unknown): ToolNodeError {
  return new ToolNodeError(
    `The transformer for ${tool} failed, and the ordinary layers answered: mend it or leave it out.`,
    { cause },
  );
}
