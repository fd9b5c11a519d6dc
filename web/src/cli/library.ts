/**
 * The one place where the command line meets the library; loaded by commands that need it.
 * @module
 */
import { configured } from "../artifacts/retention/retaining-store.js";
import type { ArtifactStore } from "../artifacts/store.js";
import { createSluiceOver } from "../core/create.js";
import type { Sluice } from "../core/sluice.js";
import { withoutDoor } from "../mcp/door-config.js";
import { readConfig } from "./configuration.js";

/** A Sluice over `store`, configured by a JSON file where one is named. */
export async function openSluice(store: ArtifactStore, configFile: string | undefined): Promise<Sluice> {
  const all = configFile === undefined ? undefined : await readConfig(configFile);
  const { store: kept, config } = configured(store, all);
  return createSluiceOver({ store: kept, onFailure: "answer" }, withoutDoor(config));
}
