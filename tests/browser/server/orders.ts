/**
 * What the tests tell their service worker.
 * @module
 */
import type { ArtifactInfo, ArtifactScope } from "../../../web/src/artifacts/store.js";

/** The database in which page and service worker have their sessions. */
export const SESSIONS_NAME = "test-service-worker-sessions";

/** Store bytes, or a user's file, and answer with their id, or delete them. */
export type Order =
  | { readonly act: "put"; readonly bytes: Uint8Array; readonly info: ArtifactInfo }
  | { readonly act: "put file"; readonly bytes: Uint8Array; readonly name: string; readonly scope: ArtifactScope }
  | { readonly act: "delete"; readonly id: string; readonly scope: ArtifactScope };
