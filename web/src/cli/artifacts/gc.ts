/**
 * `sluice artifacts gc`
 * @module
 */
import { configured, RetainingArtifactStore } from "../../artifacts/retention/retaining-store.js";
import type { Collected } from "../../artifacts/retention/keeper.js";
import type { ArtifactStore } from "../../artifacts/store.js";
import type { Invocation } from "../commands.js";
import { readConfig } from "../configuration.js";
import { Exit } from "../exit.js";
import { openKeptStore } from "../store.js";
import type { Terminal } from "../terminal.js";
import { counted, humanSize } from "../../core/amounts.js";
import { checkSections } from "../../core/config.js";

export async function run(invocation: Invocation, { output }: Terminal): Promise<number> {
  const store = await openKeptStore(invocation.value("store"));
  const collected = await collect(store, invocation.value("config"));
  const swept = await store.gc();
  const bytes = swept.bytes + (collected?.bytes ?? 0);
  if (invocation.has("json"))
    await output.write(`${JSON.stringify({ ...swept, bytes, artifacts: collected?.artifacts ?? 0 })}\n`);
  else {
    const expired = collected ? `${counted(collected.artifacts, "artifact")}, ` : "";
    await output.write(
      `removed ${expired}${counted(swept.blobs, "blob")}, ${counted(swept.temporaries, "leftover")}: ${humanSize(bytes)}\n`,
    );
  }
  return Exit.ok;
}

/** Takes away what the configuration's `retention` does not keep; null where it says nothing, or another is at it. */
async function collect(store: ArtifactStore, configFile: string | undefined): Promise<Collected | null> {
  if (configFile === undefined) return null;
  const config = await readConfig(configFile);
  // A `retention` that is misspelt would let everything stay, and nobody would know.
  checkSections(config);
  const { store: kept } = configured(store, config);
  return kept instanceof RetainingArtifactStore ? kept.collect() : null;
}
