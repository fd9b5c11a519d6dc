/**
 * What a tool of the demo server is.
 * @module
 */
import type { CallToolResult, ElicitRequestFormParams, ElicitResult, Tool } from "@modelcontextprotocol/server";
import { readArguments, schemaOf, type Fields, type Values } from "./fields.js";

/** What a running call may do. */
export interface DemoCall {
  /** Aborted when the client gives up. */
  readonly signal: AbortSignal;
  /** Tells how far the call is; nothing where the client does not want to know. */
  readonly progress: (progress: number, total: number, message: string) => Promise<void>;
  /** Asks the person at the client. Throws where the client cannot. */
  readonly ask: (message: string, schema: ElicitRequestFormParams["requestedSchema"]) => Promise<ElicitResult>;
}

/** A tool as clients see it, and what it does. */
export interface DemoTool {
  /** Its entry in the list. */
  readonly listed: Tool;
  /** Arguments that do not fit give a result with `isError`. */
  readonly call: (args: Readonly<Record<string, unknown>>, call: DemoCall) => Promise<CallToolResult>;
}

/** How a tool is described. */
export interface ToolTerms<F extends Fields> extends Pick<Tool, "name" | "title" | "description" | "outputSchema"> {
  /** Its arguments. */
  readonly fields: F;
  /** Whether a call changes something; not so when left out. */
  readonly writes?: boolean;
  /** What a call does, once its arguments fit. */
  readonly run: (values: Values<F>, call: DemoCall) => CallToolResult | Promise<CallToolResult>;
}

/** A tool from its description. */
export function demoTool<F extends Fields>({ fields, writes = false, run, ...shown }: ToolTerms<F>): DemoTool {
  const annotations = { readOnlyHint: !writes, openWorldHint: false, ...(writes && { destructiveHint: false }) };
  return {
    listed: { ...shown, inputSchema: schemaOf(fields), annotations },
    call: async (args, call) => {
      const values = readArguments(fields, args);
      return typeof values === "string" ? failed(values) : run(values, call);
    },
  };
}

/** A result that is a text. */
export function told(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/** A result that says what went wrong. */
export function failed(sentence: string): CallToolResult {
  return { ...told(sentence), isError: true };
}
