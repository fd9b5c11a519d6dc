/**
 * Sources that work with My Files, as a planner is given them: a person sees how long they are silent, and what they display.
 * @module
 */
import type { OffersTools } from "mcp-sluice/planner";
import type { ToolContext, ToolResult, ToolSpec } from "mcp-sluice/tools";
import { withWaits } from "../connection.js";
import type { ShownDisplay } from "../contract.js";
import { shownArtifact, shownDisplay } from "../filed.js";
import type { PlannedSource } from "../servers.js";

/** What the calls of one question have in common. */
export interface FileCallTerms {
  /** Seconds of silence; the source's own limit when left out. */
  readonly timeout: number | undefined;
  readonly onDisplay: (display: ShownDisplay) => void;
}

/** The same tools. What is told of a silent one goes where its progress goes, so that it is known which call it is. */
export function withFiles({ server, node }: PlannedSource, terms: FileCallTerms): OffersTools {
  const call = async (
    tool: ToolSpec,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ): Promise<ToolResult> => {
    const { timeout, onDisplay } = terms;
    const waits = withWaits((progress) => context.onProgress?.(progress));
    const limit = timeout === undefined ? {} : { timeoutSeconds: timeout };
    const result = await tool.call(args, { ...context, ...waits, ...limit });
    const artifacts = result.artifacts.map((artifact) => shownArtifact(artifact, server));
    if (result.display !== undefined) onDisplay(shownDisplay(result.display, artifacts, server));
    return result;
  };
  return {
    getTools: () =>
      node.getTools().map((tool) => ({ ...tool, call: (args, context = {}) => call(tool, args, context) })),
    listen: (listener) => node.listen(listener),
  };
}
