/**
 * Content that was taken out of a result and comes back, since the client shows it: pictures, sound, documents, texts. It stays stored.
 * @module
 */
import { isTruncated } from "../artifacts/reference.js";
import type { Engine } from "./engine.js";
import type { MessageDeps } from "./store-access.js";
import type { AnswerRef, ResultFacts, StoredContent } from "./types.js";

interface Showable extends Pick<ResultFacts, "max_bytes" | "max_count" | "is_error" | "reduced_bytes"> {
  readonly showable: readonly Omit<StoredContent, "read">[];
}

/** Puts back what a client shows, before the answer is written. Returns the segments of texts that came back. */
export async function showContent(
  engine: Engine,
  { access, options, show, documents: modules }: MessageDeps,
  refs: ReadonlyMap<number, AnswerRef>,
): Promise<ReadonlySet<number>> {
  const { clientShowsImages: showsImages = false, client = {}, signal } = options;
  const choose = client.show ?? show;
  const texts = new Set<number>();
  if (choose === undefined) return texts;
  const { showable, ...facts } = JSON.parse(engine.ask("showable", client.wholeText ?? 0)) as Showable;
  if (showable.length === 0) return texts;
  const content = showable.map((each) => ({
    ...each,
    read: (most: number) => readContent(engine, access, each, refs.get(each.segment), most),
  }));
  for (const [{ segment }, { data, ...shown }] of await choose(content, { ...facts, showsImages, modules, signal })) {
    const json = encoder.encode(JSON.stringify({ segment, ...shown }));
    engine.give([json, encoder.encode(data)]);
    engine.call("show", json.length);
    if (shown.kind === "text") texts.add(segment);
  }
  return texts;
}

const encoder = new TextEncoder();

async function readContent(
  engine: Engine,
  access: MessageDeps["access"],
  { segment, size_bytes }: Omit<StoredContent, "read">,
  ref: AnswerRef | undefined,
  most: number,
): Promise<Uint8Array | undefined> {
  if (size_bytes > most) return undefined;
  engine.call("kept", segment);
  const kept = engine.bytes();
  if (kept.length > 0) return kept;
  if (ref === undefined) return undefined;
  const read = async (): Promise<Uint8Array | undefined> => {
    const chunks = isTruncated(ref) ? null : await access.openChunks(ref.id, ref.scope);
    if (chunks === null) return undefined;
    const bytes = new Uint8Array(size_bytes);
    let at = 0;
    for await (const chunk of chunks) {
      if (at + chunk.length > size_bytes) return undefined;
      bytes.set(chunk, at);
      at += chunk.length;
    }
    return at === size_bytes ? bytes : undefined;
  };
  return access.attempt<Uint8Array | undefined>(read, () => undefined);
}
