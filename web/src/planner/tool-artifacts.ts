/**
 * The artifacts that a native tool sees: those of whoever asks the planner.
 * @module
 */
import { ScopedArtifacts, type Uploaded, type UploadInfo } from "../artifacts/scoped.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore, StoredArtifact } from "../artifacts/store.js";

/** What a tool says of what it stores. */
export type ToolArtifactInfo = Omit<UploadInfo, "namespace">;

/**
 * As every scoped store; what is stored has the tool's namespace, and the host is told of it. Refs are made to be part of what a tool
 * returns: JSON of them says nothing of whose they are.
 */
export class ToolArtifacts extends ScopedArtifacts {
  readonly #namespace: string;
  readonly #onStored: (ref: ArtifactRef) => void;

  constructor(store: ArtifactStore, scope: ArtifactScope, namespace: string, onStored: (ref: ArtifactRef) => void) {
    super(store, scope);
    this.#namespace = namespace;
    this.#onStored = onStored;
  }

  /** Stores bytes, a text or a stream. The ref may be part of what the tool returns. */
  override async upload(data: Uploaded, info: ToolArtifactInfo = {}): Promise<ArtifactRef> {
    const ref = await super.upload(data, { ...info, namespace: this.#namespace });
    this.#onStored(ref);
    return withoutScope(ref);
  }

  override async stat(id: string): Promise<StoredArtifact> {
    return withoutScope(await super.stat(id));
  }

  override async *list(): AsyncIterable<StoredArtifact> {
    for await (const artifact of super.list()) yield withoutScope(artifact);
  }
}

/** The scope is there for who asks for it by name, and for nobody who writes the ref down. */
function withoutScope<Ref extends ArtifactRef>({ scope, ...shown }: Ref): Ref {
  return Object.defineProperty(shown, "scope", { value: scope, enumerable: false }) as unknown as Ref;
}
