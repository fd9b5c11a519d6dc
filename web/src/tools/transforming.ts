/**
 * Layer 5: a transformer of the host's own in place of the ordinary layers (RFC 0.3 §4.1, §4.3; design §4).
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import { Answer } from "../core/answer.js";
import { cutOf } from "./tool-answer.js";
import type { AnswerRef, Sluice, Transformed } from "../core/sluice.js";
import type { OutputTransformer } from "./config.js";
import type { ToolContext } from "./context.js";
import { ToolNodeError } from "./errors.js";
import { untilLate } from "../core/abort.js";
import { through } from "./sources/body/through.js";

/** Bytes of a raw result that a transformer is given at most. */
const MAX_RAW = 8 * 1024 * 1024;

/** A stored part of a result, as a transformer may use it. */
export interface Segment {
  /** Its id, and what is known of it. */
  readonly ref: AnswerRef;
  /** Its bytes; null when it was not stored or is gone. */
  open(): Promise<ReadableStream<Uint8Array> | null>;
}

/** What a transformer is told beside the document. */
export interface TransformerContext extends ToolContext {
  /** Parts of the result that were stored; the document refers to them. */
  readonly segments: readonly Segment[];
}

/** What transforming needs. */
export interface TransformingTerms {
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly transformer: OutputTransformer;
  readonly input: "reduced" | "raw";
  /** Seconds. */
  readonly timeout: number;
  /** Told why the ordinary layers answer after all. */
  readonly onFailure: (error: ToolNodeError) => void;
}

/**
 * Gives a result to the transformer, and what it returns to the guardrail. A transformer that throws, or takes too long,
 * is answered for by the ordinary layers.
 *
 * @param reduced the result in the mcp dialect.
 * @param tool the tool's name, and whose the result is.
 */
export async function transformed(
  reduced: Transformed,
  tool: { readonly name: string; readonly namespace: string },
  context: ToolContext,
  terms: TransformingTerms,
): Promise<Transformed> {
  try {
    const value = await untilLate(() => applied(reduced, tool.name, context, terms), {
      most: terms.timeout * 1000,
      late: () => new Error(`${tool.name} took more than ${terms.timeout} s`),
      signal: context.signal,
    });
    const clamp = terms.sluice.clamp(value ?? null);
    const bytesOut = new TextEncoder().encode(clamp.text).length;
    const { artifacts, failures, bytesIn } = reduced;
    const { text } = clamp;
    const cut = cutOf(clamp);
    return new Answer({ text, artifacts, failures, changed: true, cut, bytesIn, bytesOut, refs: undefined });
  } catch (error) {
    context.signal?.throwIfAborted();
    terms.onFailure(failure(tool.name, error));
    return ordinary(reduced, tool, context, terms.sluice);
  }
}

async function applied(
  reduced: Transformed,
  tool: string,
  context: ToolContext,
  { sluice, store, transformer, input }: TransformingTerms,
): Promise<unknown> {
  const segments = reduced.artifacts.map((ref) => segmentOf(ref, store, context.scope ?? {}));
  const document = input === "raw" ? await raw(reduced, context, sluice) : reduced.value;
  return transformer(tool, document, { ...context, segments });
}

/** The result as the source sent it. Throws E_TOO_LARGE when it is too long to be held. */
async function raw(reduced: Transformed, { scope = {} }: ToolContext, sluice: Sluice): Promise<unknown> {
  if (!reduced.changed) return reduced.value;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of sluice.restoreStream(reduced.text, { scope })) {
    size += piece.length;
    if (size > MAX_RAW) throw new ToolNodeError(`a raw result may have ${MAX_RAW / 1024 / 1024} MiB at most`);
    pieces.push(piece);
  }
  return JSON.parse(await new Blob(pieces as BlobPart[]).text()) as unknown;
}

/** What the ordinary layers make of a result in the mcp dialect. */
export async function ordinary(
  reduced: Transformed,
  tool: { readonly name: string; readonly namespace: string },
  { scope = {}, signal }: ToolContext,
  sluice: Sluice,
): Promise<Transformed> {
  const options = { tool: tool.name, namespace: tool.namespace, scope, ...(signal !== undefined && { signal }) };
  return through(sluice, { ...options, dialect: "observation" }, sluice.restoreStream(reduced.text, { scope }));
}

function segmentOf(ref: AnswerRef, store: ArtifactStore, scope: ArtifactScope): Segment {
  const open = async (): Promise<ReadableStream<Uint8Array> | null> => {
    if (ref.source["truncated"] === true) return null;
    return store.openReader(ref.id, { scope });
  };
  return { ref, open };
}

function failure(tool: string, cause: unknown): ToolNodeError {
  return new ToolNodeError(
    `The transformer for ${tool} failed, and the ordinary layers answered: mend it or leave it out.`,
    { cause },
  );
}
