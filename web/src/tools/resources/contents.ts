/**
 * What was read of a resource, with everything that is stored of it.
 * @module
 */
import type { ArtifactRef, ArtifactScope, ArtifactStore, StoredArtifact } from "../../artifacts/store.js";
import { isTruncated } from "../../artifacts/unstored.js";
import { untilAborted } from "../../core/abort.js";
import type { SluiceError } from "../../errors/error.js";
import { guarded, storageError } from "../../errors/storage.js";
import type { ArtifactContent, ReadResult, TextContent } from "./connection.js";
import { MAX_STORED_TEXTS, MAX_TOLD } from "./limits.js";

/** One content of a resource: a short text, as an artifact too where it was stored; anything else as an artifact. */
export type ResourceContent =
  | (TextContent & {
      /** The same text as an artifact; left out where it was not stored. */
      readonly artifact?: ArtifactRef;
    })
  | ArtifactContent;

/** All that was read of a resource. */
export interface ResourceReading {
  /** In the source's order. */
  readonly contents: readonly ResourceContent[];
  /** What is stored of it, as far as it is still there, each once; of what it refers to, 1000 at most. */
  readonly artifacts: readonly ArtifactRef[];
  /** What the store failed at; the contents are whole all the same. */
  readonly failures: readonly SluiceError[];
}

/** Where contents are stored. */
interface KeepingTerms {
  readonly namespace: string;
  readonly store: ArtifactStore;
  /** Whether short texts are stored. */
  readonly storesText: boolean;
  readonly scope: ArtifactScope;
  readonly signal?: AbortSignal | undefined;
}

/** Stores the short texts of a result, the first {@link MAX_STORED_TEXTS}, if asked to, and looks up what else is stored. */
export async function contentsOf(result: ReadResult, terms: KeepingTerms): Promise<ResourceReading> {
  const desk = new Desk(terms);
  const contents: ResourceContent[] = [];
  let toStore = terms.storesText ? MAX_STORED_TEXTS : 0;
  for (const content of result.contents) {
    if (content.kind === "text" && toStore > 0) {
      contents.push(await desk.stored(content));
      toStore -= 1;
    } else contents.push(content);
  }
  for (const id of artifactsIn(result).slice(0, MAX_TOLD)) await desk.look(id);
  return { contents, artifacts: desk.artifacts, failures: desk.failures };
}

/** The store as one reading meets it: what it fails at is noted, and ends nothing. */
class Desk {
  readonly #terms: KeepingTerms;
  readonly #artifacts = new Map<string, ArtifactRef>();
  readonly #failures = new Map<string, SluiceError>();

  constructor(terms: KeepingTerms) {
    this.#terms = terms;
  }

  get artifacts(): readonly ArtifactRef[] {
    return [...this.#artifacts.values()];
  }

  /** Each sentence once. */
  get failures(): readonly SluiceError[] {
    return [...this.#failures.values()];
  }

  async stored(content: TextContent): Promise<ResourceContent> {
    const { namespace, scope } = this.#terms;
    const { text, uri, mime_type } = content;
    if (text === "") return content;
    const info = { namespace, scope, source: { uri }, ...(mime_type !== null && { mime_type }) };
    const artifact = await this.#attempt("write", (store) => store.putText(text, info));
    // Where nothing is stored, the text itself is all that there is to say of it.
    if (artifact === undefined || isTruncated(artifact)) return content;
    this.#artifacts.set(artifact.id, artifact);
    return { ...content, artifact };
  }

  async look(id: string): Promise<void> {
    const found = await this.#attempt("read", (store) => store.stat(id, this.#terms.scope));
    if (found !== undefined && found !== null) this.#artifacts.set(id, refOf(found));
  }

  async #attempt<T>(act: "read" | "write", work: (store: ArtifactStore) => Promise<T>): Promise<T | undefined> {
    const { store, signal } = this.#terms;
    try {
      return await untilAborted(
        guarded(act, () => work(store)),
        signal,
      );
    } catch (error) {
      signal?.throwIfAborted();
      const failure = storageError(error, act);
      this.#failures.set(`${failure.code} ${failure.message}`, failure);
      return undefined;
    }
  }
}

function refOf({ stored_at: _, used_at: __, ...ref }: StoredArtifact): ArtifactRef {
  return ref;
}

/** As the core writes a reference inside a text; a source may have written the same. */
const REFERENCE = /artifact:\/\/([A-Za-z0-9_.-]+)/g;

/** Ids, each once: contents that are artifacts first, then what texts refer to. */
export function artifactsIn({ contents }: ReadResult): readonly string[] {
  const ids = new Set<string>();
  for (const content of contents) if (content.kind === "artifact") ids.add(content.id);
  for (const content of contents) {
    if (content.kind === "text") for (const [, id] of content.text.matchAll(REFERENCE)) ids.add(id as string);
  }
  return [...ids];
}

/** What a model may see of an artifact that was read (design §4). */
export function namedArtifact(content: ArtifactContent): Readonly<Record<string, unknown>> {
  const { id, mime_type, size_bytes, filename } = content;
  return { id, mime_type, size_bytes, ...(filename !== null && { filename }) };
}
