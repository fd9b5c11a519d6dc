/**
 * The tool that reads a source's artifacts back: the same as a proxy offers (design §6 "Read-back").
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import type { SluiceConfig } from "../../core/config.js";
import type { Sluice } from "../../core/sluice.js";
import { ArtifactSource } from "../../mcp/reading/source.js";
import { readTool } from "../../mcp/reading/definition.js";
import type { ToolSpec } from "../registry.js";
import { ToolAnswer } from "../tool-answer.js";

/** What the tool is made of. */
export interface ReadToolTerms {
  /** Prefix of the tool's name, and of the ids of the artifacts that it reads. */
  readonly namespace: string;
  /** Where the tools come from: the transport. */
  readonly source: string;
  readonly store: ArtifactStore;
  readonly sluice: Sluice;
  /** The same configuration as the sluice's: answers stay within its guardrail. */
  readonly config: Pick<SluiceConfig, "guardrail">;
}

/** What the tool is called behind its source's name. */
export const READ_TOOL: string = "artifact_read";

/** The tool. It reads what was stored from this source for the scope that asks, and nothing else. */
export function artifactReadTool({ namespace, source, store, sluice, config }: ReadToolTerms): ToolSpec {
  const name = `${namespace}.${READ_TOOL}`;
  const { description, inputSchema } = readTool(namespace);
  const most = config.guardrail?.max_observation_chars;
  const options = most === undefined ? {} : { maxChars: most };
  return {
    name,
    description:
      `${description} An id will do for the URI. Given as an argument of another tool of ${namespace}, ` +
      "artifact://ID passes the artifact itself.",
    input_schema: inputSchema,
    side_effects: "read",
    tags: [source, namespace, "artifacts"],
    extra: { source, namespace },
    call: async (args, { scope = {}, signal } = {}) => {
      // Whoever never reads anything back need not load what does.
      const { ArtifactReading } = await import("../../mcp/reading/reading.js");
      const reading = new ArtifactReading(new ArtifactSource(store, scope, namespace), options);
      return ToolAnswer.told(await reading.call(args, signal === undefined ? {} : { signal }), sluice);
    },
  };
}
