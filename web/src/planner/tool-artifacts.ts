/**
 * The artifacts that a native tool sees: those of whoever asks the planner.
 * @module
 */
import { ScopedArtifacts, type Uploaded, type UploadInfo } from "../artifacts/scoped.js";
import type { ArtifactRef, ArtifactScope, ArtifactStore } from "../artifacts/store.js";

/** What a tool says of what it stores. */
export type ToolArtifactInfo = Omit<UploadInfo, "namespace">;

/** As every scoped store; what is stored has the tool's namespace, and the host is told of it. */
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
    return ref;
  }
}
