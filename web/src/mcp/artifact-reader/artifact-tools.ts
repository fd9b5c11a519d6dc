/**
 * The tools that `Sluice.tools` gives.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import type { ArtifactTool, ArtifactToolsOptions } from "../../core/sluice.js";
import { readTool } from "./definition.js";
import { ArtifactSource } from "./source.js";

/** Tools that read the artifacts of a scope. Their names begin with the namespace, if one is given. */
export function artifactTools(
  store: ArtifactStore,
  { namespace, scope = {} }: ArtifactToolsOptions,
): readonly ArtifactTool[] {
  const definition = readTool(namespace ?? "");
  const call: ArtifactTool["call"] = async (args, options) => {
    // Loaded only when something is read back.
    const { ArtifactReader } = await import("./artifact-reader.js");
    const source = new ArtifactSource(store, scope, namespace);
    return new ArtifactReader(source, { tool: definition.name }).call(args, options);
  };
  return [{ ...definition, call }];
}
