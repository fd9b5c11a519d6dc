/**
 * A source behind a cache, whose answers, artifacts and time a test sets.
 * @module
 */
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import { ResourceCache, type CacheDeps } from "../../../../web/src/tools/resources/cache.js";
import type { ReadResult } from "../../../../web/src/tools/source-features.js";
import { Latch } from "../../core/faulty-store.js";

export const ADA: ArtifactScope = { user_id: "ada", session_id: "s1" };
export const BOB: ArtifactScope = { user_id: "bob", session_id: "s1" };
export const URI = "file:///report";
export const MINUTE = 60_000;

/** A result of one text. */
export const text = (said: string, more: Partial<ReadResult> = {}): ReadResult => ({
  contents: [{ kind: "text", uri: URI, mime_type: "text/plain", text: said }],
  ...more,
});

/** A result of one artifact. */
export const stored = (id: string, more: Partial<ReadResult> = {}): ReadResult => ({
  contents: [{ kind: "artifact", uri: URI, mime_type: null, id, size_bytes: 9, filename: null, summary: "9 B" }],
  ...more,
});

/** What a cache stands in front of, with what it was asked. */
export interface CachedSource {
  readonly cache: ResourceCache;
  /** Reads; the source answers with what `result` is then. */
  read(scope?: ArtifactScope, uri?: string): Promise<ReadResult>;
  /** Reads, and settles when the source is being asked; `answer` lets it. */
  begin(
    scope?: ArtifactScope,
    uri?: string,
  ): Promise<{ readonly reading: Promise<ReadResult>; readonly answer: () => void }>;
  result: ReadResult | Error;
  /** How often the source was asked. */
  fetches: number;
  /** The time, in milliseconds. */
  now: number;
  /** Artifacts that the store has no more. */
  readonly gone: Set<string>;
}

/** A source that says "hello" to begin with. */
export function cachedSource(deps: Partial<CacheDeps> = {}): CachedSource {
  const gone = new Set<string>();
  const clock = (): number => made.now;
  let asked = new Latch();
  let answered: Promise<unknown> = Promise.resolve();
  const cache = new ResourceCache({ exists: (id) => Promise.resolve(!gone.has(id)), clock, ...deps });
  const fetch = async (): Promise<ReadResult> => {
    made.fetches += 1;
    const { result } = made;
    asked.release();
    await answered;
    if (result instanceof Error) throw result;
    return result;
  };
  const made: CachedSource = {
    cache,
    read: (scope = ADA, uri = URI) => cache.read(uri, { scope }, fetch),
    begin: async (scope = ADA, uri = URI) => {
      asked = new Latch();
      const latch = new Latch();
      answered = latch.released;
      const reading = cache.read(uri, { scope }, fetch);
      await asked.released;
      answered = Promise.resolve();
      return { reading, answer: latch.release };
    },
    result: text("hello"),
    fetches: 0,
    now: 1_000,
    gone,
  };
  return made;
}
