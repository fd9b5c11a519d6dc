/**
 * The part of a configuration that is for the store.
 * @module
 */
import type { SluiceConfig } from "../../core/config.js";
import type { ArtifactStore } from "../store.js";
import { RetainingArtifactStore } from "./retaining-store.js";

/** A store within the limits that a configuration sets, and the rest of the configuration, which is for the core. */
export interface Configured {
  readonly store: ArtifactStore;
  readonly config: SluiceConfig | undefined;
}

/**
 * Applies `retention`; without it the store stays as it is.
 *
 * @throws SluiceError E_CONFIG_KEY or E_CONFIG_VALUE with the path of the key.
 */
export function configured(store: ArtifactStore, config: SluiceConfig | undefined): Configured {
  // What is no object is the core's to refuse.
  if (typeof config !== "object" || (config as unknown) === null) return { store, config };
  const { retention, ...rest } = config;
  if (retention === undefined) return { store, config };
  return { store: new RetainingArtifactStore(store, retention), config: rest };
}
