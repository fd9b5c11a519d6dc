/**
 * An editor over a store in memory whose streams come in small pieces.
 * @module
 */
import { expect } from "vitest";
import {
  MemoryArtifactStore,
  type ArtifactInfo,
  type ArtifactRef,
  type ArtifactToolResult,
} from "../../../../web/src/index.js";
import { ArtifactEditor } from "../../../../web/src/mcp/artifact-editor/artifact-editor.js";
import { ArtifactSource } from "../../../../web/src/mcp/artifact-reader/source.js";
import { wordsOf } from "../artifact-reader/artifacts.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A source whose readers give pieces of these sizes, round and round, in one buffer that is written over. */
export class Pieces extends ArtifactSource {
  readonly #sizes: readonly number[];

  constructor(store: MemoryArtifactStore, sizes: readonly number[]) {
    super(store, {}, "ns");
    this.#sizes = sizes;
  }

  override async openReader(
    ...args: Parameters<ArtifactSource["openReader"]>
  ): ReturnType<ArtifactSource["openReader"]> {
    const stream = await super.openReader(...args);
    if (stream === null) return null;
    const bytes = new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
    const buffer = new Uint8Array(Math.max(...this.#sizes));
    let at = 0;
    let turn = 0;
    return new ReadableStream(
      {
        pull: (controller) => {
          buffer.fill(0x22);
          const piece = bytes.subarray(at, at + (this.#sizes[turn++ % this.#sizes.length] ?? 1));
          buffer.set(piece);
          at += piece.length;
          if (piece.length > 0) controller.enqueue(buffer.subarray(0, piece.length));
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  }
}

/** What an edit came to. */
export interface Edited {
  readonly result: ArtifactToolResult;
  /** Our own words. */
  readonly words: string;
  /** The text of the new artifact. Undefined if there is none. */
  readonly text: string | undefined;
  readonly ref: ArtifactRef | undefined;
  readonly origin: ArtifactRef;
  readonly store: MemoryArtifactStore;
}

/** Stores a text, edits it, and reads the result. */
export async function edited(
  content: string | Uint8Array,
  args: object,
  { sizes = [7], ...info }: ArtifactInfo & { readonly sizes?: readonly number[] } = {},
): Promise<Edited> {
  const store = new MemoryArtifactStore();
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  const origin = await store.putBytes(bytes, { mime_type: null, ...info, namespace: "ns" });
  let ref: ArtifactRef | undefined;
  const editor = new ArtifactEditor(new Pieces(store, sizes), {
    tool: "ns_artifact_edit",
    readTool: "ns_artifact_read",
    onStored: (stored) => (ref = stored),
  });
  const result = await editor.call({ uri: `artifact://${origin.id}`, ...args });
  expect(Buffer.compare((await store.get(origin.id)) ?? Buffer.alloc(0), bytes)).toBe(0);
  const whole = ref === undefined ? null : await store.get(ref.id);
  const text = whole === null ? undefined : decoder.decode(whole);
  return { result, words: wordsOf(result), text, ref, origin, store };
}

/** The text that an edit gives. Fails with what the tool said if it gives none. */
export async function textAfter(...given: Parameters<typeof edited>): Promise<string> {
  const { text, words } = await edited(...given);
  if (text === undefined) throw new Error(words);
  return text;
}

/** What the tool says against an edit. */
export async function refusal(...given: Parameters<typeof edited>): Promise<string> {
  const { result, words, ref } = await edited(...given);
  expect([result.isError, ref, words]).toEqual([true, undefined, words]);
  return words;
}
