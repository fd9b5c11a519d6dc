/**
 * Doors for those who write a client: a store and a name are enough.
 * @module
 */
import { namespaceOf } from "../artifacts/ids.js";
import { chosenStore } from "../artifacts/discover.js";
import { configured } from "../artifacts/retention/retaining-store.js";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { SluiceConfig } from "../core/config.js";
import { createSluiceOver, type WasmSource } from "../core/create.js";
import { Door, type DoorEvent, type DoorTerms, type LinkMode } from "./door.js";
import { readDoor, withoutDoor } from "./door-config.js";
import { heedless } from "./door-event.js";
import type { SchemaMode } from "./schemas.js";

/** What is said of a door; all of it but the store may be left out. */
export interface DoorOptions {
  /** Where artifacts go; without one nothing is kept, and results say so. */
  readonly store?: ArtifactStore;
  /** What differs from the defaults. */
  readonly config?: SluiceConfig;
  /** The server's name: prefix of artifact ids and of the tool that reads them; `artifact` when left out. */
  readonly namespace?: string;
  /** Whose the artifacts are; left out, those of nobody. */
  readonly scope?: ArtifactScope;
  /** Whether `resource_link` blocks are added to results; `never` when left out. */
  readonly links?: LinkMode;
  /** Whether small images stay in place for a model that sees; false when left out. */
  readonly showImages?: boolean;
  /** What becomes of tools' schemas; `widen` when left out. */
  readonly schemas?: SchemaMode;
  /** Told of what is stored, of what is put into arguments, and of failures. What it throws is lost. */
  readonly onEvent?: (event: DoorEvent) => void;
  /** Where the core is, when a bundler moved it. */
  readonly wasm?: WasmSource;
}

/** A door as the options ask for it. Throws as {@link doorTerms} does. */
export async function openDoor(options: DoorOptions): Promise<Door> {
  return new Door(await doorTerms(options));
}

/** What doors are made of, as the options ask for it. Throws E_CORE_LOAD, E_CONFIG_…, E_INVALID_ARGUMENT. */
export async function doorTerms(options: DoorOptions): Promise<DoorTerms> {
  const { store, config } = configured(chosenStore(options.store, undefined), options.config);
  const { on_store_failure, arguments: forms, share } = readDoor(config);
  const onFailure = on_store_failure === "error" ? "throw" : "answer";
  return {
    sluice: await createSluiceOver({ store, onFailure }, withoutDoor(config), options.wasm),
    store,
    scope: options.scope ?? {},
    namespace: namespaceOf(options.namespace),
    forms,
    share,
    links: options.links ?? "never",
    showImages: options.showImages ?? false,
    schemas: options.schemas ?? "widen",
    onEvent: heedless(options.onEvent),
  };
}
