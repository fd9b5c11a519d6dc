/**
 * A handler with one artifact, and how it is asked.
 * @module
 */
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactInfo, ArtifactRef, ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { artifactHandler, type ArtifactHandlerOptions } from "../../../../web/src/server/artifacts/handler.js";

/** Whose the artifact is. */
export const ADA: ArtifactScope = { user_id: "ada", session_id: "s1" };

/** Ten bytes that say where they stand. */
export const TEN = "0123456789";

/** What is different from a plain GET. */
export interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

/** An artifact that is served. */
export interface Served {
  readonly store: ArtifactStore;
  readonly ref: ArtifactRef;
  /** Asks for what stands behind `artifacts/`. */
  readonly ask: (path: string, init?: Asking) => Promise<Response>;
}

/** Stores an artifact of Ada's, a PDF as far as is said, and serves it to her below `/app/`. */
export async function serving(
  data: string | Uint8Array = TEN,
  info: ArtifactInfo = {},
  options: Partial<ArtifactHandlerOptions> = {},
): Promise<Served> {
  const store = options.store ?? new MemoryArtifactStore({ retention: null });
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  const ref = await store.putBytes(bytes, { scope: ADA, mime_type: "application/pdf", ...info });
  const handle = artifactHandler({ scope: ADA, base: "/app/", ...options, store });
  const ask = async (path: string, init: Asking = {}): Promise<Response> => {
    const response = await handle(new Request(`http://localhost/app/artifacts/${path}`, init));
    if (response === null) throw new Error("not answered");
    return response;
  };
  return { store, ref, ask };
}

/** The error that a response tells of. */
export async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return error;
}
