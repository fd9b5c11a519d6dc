/**
 * The tools that `Sluice.tools` gives.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import type { ArtifactTool, ArtifactToolsOptions } from "../../core/sluice.js";
import { ArtifactReader } from "./artifact-reader.js";
import { readTool } from "./definition.js";
import { ArtifactSource } from "./source.js";

/** Tools that read the artifacts of a scope. Their names begin with the namespace, if one is given. */
export function artifactTools(
  store: ArtifactStore,
  { namespace, scope = {} }: ArtifactToolsOptions,
): readonly ArtifactTool[] {
  const definition = readTool(namespace ?? "");
  const reader = new ArtifactReader(new ArtifactSource(store, scope, namespace), { tool: definition.name });
  return [{ ...definition, call: (args, options) => reader.call(args, options) }];
}
