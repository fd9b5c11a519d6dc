/**
 * A reader over a library, with everything that it needs.
 * @module
 */
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import type { ResourceEvent } from "../../../../web/src/tools/options.js";
import type { ResourceConnection } from "../../../../web/src/tools/resources/connection.js";
import { type ResourceDeps, ResourceReader } from "../../../../web/src/tools/resources/reader.js";
import { Library } from "./library.js";

export const ADA: ArtifactScope = { user_id: "ada", session_id: "s1" };
export const BOB: ArtifactScope = { user_id: "bob", session_id: "s1" };
export const URI = "file:///report";

/** A reader, what it reads, and what it told. */
export interface ReaderSetup {
  readonly reader: ResourceReader;
  readonly store: ArtifactStore;
  readonly library: Library;
  readonly events: ResourceEvent[];
  /** What the source's session is over: another one stands for a source that was connected again. */
  connection: ResourceConnection | undefined;
  now: number;
}

/** `lib` is the source's name. */
export function newReader(deps: Partial<ResourceDeps> = {}): ReaderSetup {
  const { store = new MemoryArtifactStore() } = deps;
  const events: ResourceEvent[] = [];
  const reader = new ResourceReader({
    namespace: "lib",
    store,
    use: (context, work) => work(made.connection, context.signal ?? new AbortController().signal),
    clock: () => made.now,
    onEvent: (event) => events.push(event),
    ...deps,
  });
  const library = new Library(store, (notice) => reader.notice(notice));
  const made: ReaderSetup = { reader, store, library, events, connection: library, now: 0 };
  return made;
}
