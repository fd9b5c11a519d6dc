/**
 * Tools and their results in the form of MCP, whatever source they are of.
 * @module
 */
import { isObject } from "../../errors/arguments.js";
import { objectOr } from "../../jsonrpc/rpc.js";
import type { ToolResult } from "../../tools/result.js";
import type { ToolSpec } from "../../tools/registry.js";

/** A tool as MCP lists it. */
export function toMcpTool({
  definition,
  name,
  extra,
  description,
  input_schema,
  output_schema,
  ...spec
}: ToolSpec): object {
  return (
    definition ?? {
      name: name.slice(extra.namespace.length + 1),
      description,
      inputSchema: { type: "object", ...input_schema },
      ...(isObject(output_schema) && output_schema["type"] === "object" && { outputSchema: output_schema }),
      annotations: { readOnlyHint: spec.side_effects === "read" },
    }
  );
}

/** Members that blocks of each type have (MCP, "Tool Result"). */
const BLOCKS: Readonly<Record<string, string>> = {
  text: "text",
  image: "data",
  audio: "data",
  resource: "resource",
  resource_link: "uri",
};

/** Whether a result is one of MCP. Those of other sources keep a form of their own. */
export function isCallToolResult({ value }: ToolResult): boolean {
  const { content } = objectOr(value);
  if (!Array.isArray(content)) return false;
  return content.every((block: unknown) => {
    const { type } = objectOr(block);
    return typeof type === "string" && Object.hasOwn(BLOCKS, type) && (BLOCKS[type] ?? "") in objectOr(block);
  });
}

/** A result of another form as one of MCP. */
export function toCallToolResult({ text, value, isError }: ToolResult): object {
  return {
    content: [{ type: "text", text: typeof value === "string" ? value : text }],
    ...(isObject(value) && { structuredContent: value }),
    ...(isError && { isError }),
  };
}

const OPEN_OBJECT = 0x7b;

/** The text of a result with the type that clients of 2026-07-28 require. A source of an earlier revision gives none. */
export async function* addResultType(text: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array | string> {
  const encoder = new TextEncoder();
  let isBegun = false;
  for await (const piece of text) {
    // As bytes: a piece may end in the middle of a character.
    const bytes = isBegun || typeof piece !== "string" ? piece : encoder.encode(piece);
    const open = isBegun || typeof bytes === "string" ? -1 : bytes.indexOf(OPEN_OBJECT);
    if (open < 0 || typeof bytes === "string") {
      yield bytes;
      continue;
    }
    isBegun = true;
    yield '{"resultType":"complete",';
    yield bytes.subarray(open + 1);
  }
}
