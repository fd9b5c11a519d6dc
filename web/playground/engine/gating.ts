/**
 * Results on both sides of the gate, made of one that `restore` undoes.
 * @module
 */
import type { ArtifactScope, Sluice, Transformed, TransformOptions } from "mcp-sluice";
import type { ToolResult } from "mcp-sluice/tools";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownResult } from "./contract.js";

/** What the blocks are called that name resources. */
const LINK = "resource_link";

/** A result as it is kept: small, and everything else can be made of it. */
export interface KeptResult {
  readonly id: string;
  readonly title: string;
  readonly server: string;
  readonly tool: string;
  readonly isError: boolean;
  /** In the mcp dialect, by the default configuration. */
  readonly reduced: Answered;
  /** Of a server that works with My Files: what its result says of them. */
  readonly filed?: Pick<ToolResult, "display">;
}

/** What is needed of an answer of the gate. */
export type Answered = Pick<Transformed, "text" | "refs" | "artifacts" | "failures" | "bytesIn">;

/** What gates for a person: by the configuration of theirs. */
export interface Gating {
  readonly sluice: Sluice;
  readonly scope: ArtifactScope;
  /** Whether it is the default configuration: then what is kept need not be reduced anew. */
  readonly isDefault: boolean;
}

/** Both sides of a result. */
export async function shown(kept: KeptResult, gating: Gating): Promise<ShownResult> {
  const { id, title, server, isError, filed } = kept;
  const own = filed && (await import("./filed.js")).shownFiled({ ...kept, filed }, gating.sluice);
  if (own !== undefined) return own;
  const reduced = gating.isDefault || !isWhole(kept) ? kept.reduced : await gated(kept, gating, "mcp");
  const seen = await gated(kept, gating, "observation");
  const links = kept.reduced.text.includes(LINK) ? (await import("./links.js")).linksIn(kept) : [];
  return {
    id,
    title,
    server,
    isError,
    reduced: reduced.text,
    ...(reduced.refs !== undefined && { refs: reduced.refs }),
    observation: seen.text,
    artifacts: together(reduced, seen),
    links,
    bytesIn: kept.reduced.bytesIn,
    bytesOut: seen.bytesOut,
    clamped: seen.clamped,
    failures: [...new Set([...kept.reduced.failures, ...seen.failures].map(({ message }) => message))],
  };
}

/** The original of a result, as JSON text. */
export function original({ reduced }: KeptResult, { sluice, scope }: Gating): ReadableStream<Uint8Array> {
  const pieces = sluice.restoreStream(reduced.text, { scope })[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value.slice());
      },
      async cancel() {
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function gated(kept: KeptResult, gating: Gating, dialect: "mcp" | "observation"): Promise<Transformed> {
  const { sluice, scope } = gating;
  const options: TransformOptions = { tool: kept.tool, namespace: kept.server, scope, dialect };
  const pieces = isWhole(kept) ? sluice.restoreStream(kept.reduced.text, { scope }) : left(kept);
  return through(sluice, options, pieces);
}

/** Whether all of it was stored: then the original can be had again. */
function isWhole({ reduced }: KeptResult): boolean {
  return reduced.failures.length === 0;
}

/** What is left of a result of which something could not be stored: it says so where that was. */
async function* left({ reduced }: KeptResult): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(reduced.text);
}

/** Sends pieces of JSON text through the gate. */
export async function through(
  sluice: Sluice,
  options: TransformOptions,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Transformed> {
  await using stream = sluice.open(options);
  for await (const piece of pieces) await stream.write(piece);
  return await stream.close();
}

function together(...sides: readonly Answered[]): readonly ShownArtifact[] {
  const byId = new Map<string, ShownArtifact>();
  for (const { scope: _, ...artifact } of sides.flatMap(({ artifacts }) => artifacts)) {
    byId.set(artifact.id, byId.get(artifact.id) ?? artifact);
  }
  return [...byId.values()];
}
