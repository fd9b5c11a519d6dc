/**
 * The tools of a source under the names that a planner knows them by (ToolNode 2.1 "Namespacing & collisions").
 * @module
 */
import { matchesFilter, type ToolConfig } from "./config.js";
import { ToolNodeError } from "./errors.js";
import type { ToolSpec } from "./registry.js";
import type { SourceTool } from "./source.js";
import { withoutUsername } from "./user-files/username.js";

/** Tools that one source may offer. */
const MAX_TOOLS = 4096;

/** Characters that a name may have; more, or any that are not seen, are no name that a model could say. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** Whether a tool's name can be told to a model and to a log. */
export function isNamed({ name }: SourceTool): boolean {
  return NAME.test(name);
}

/** A source's tool, and what a planner is offered for it. */
export interface OfferedTool {
  readonly source: SourceTool;
  readonly spec: ToolSpec;
}

/**
 * Names tools `{source}.{tool}` and leaves out what the filter does not match.
 *
 * @param call what calling one of them does.
 * @returns by the planner's name, in the source's order.
 * @throws ToolNodeError when two tools of the source have the same name, or there are too many.
 */
export function offered(
  tools: readonly SourceTool[],
  config: Pick<ToolConfig, "name" | "transport" | "tool_filter" | "user_files">,
  call: (tool: SourceTool, ...rest: Parameters<ToolSpec["call"]>) => ReturnType<ToolSpec["call"]>,
): ReadonlyMap<string, OfferedTool> {
  const { name: namespace, transport, tool_filter, user_files } = config;
  const offers = new Map<string, OfferedTool>();
  for (const source of tools) {
    if (!matchesFilter(tool_filter, source.name)) continue;
    const name = `${namespace}.${source.name}`;
    if (offers.has(name)) throw twice(name);
    if (offers.size >= MAX_TOOLS) throw tooMany(namespace);
    const { description, input_schema, output_schema, isReadOnly } = source;
    const spec: ToolSpec = {
      name,
      description,
      input_schema: user_files ? withoutUsername(input_schema) : input_schema,
      ...(output_schema !== undefined && { output_schema }),
      side_effects: isReadOnly ? "read" : "external",
      tags: [transport, namespace],
      extra: { source: transport, namespace },
      call: (args, context) => call(source, args, context),
    };
    offers.set(name, { source, spec });
  }
  return offers;
}

function twice(name: string): ToolNodeError {
  return new ToolNodeError(
    `The source offers two tools named ${JSON.stringify(name)}: leave one out with tool_filter, or mend the source.`,
    { code: "E_TOOL_CONFIG", category: "non_retryable" },
  );
}

function tooMany(namespace: string): ToolNodeError {
  return new ToolNodeError(
    `The source ${namespace} offers more than ${MAX_TOOLS} tools: choose some with tool_filter.`,
    { code: "E_TOOL_CONFIG", category: "non_retryable" },
  );
}
