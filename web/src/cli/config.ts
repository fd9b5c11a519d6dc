/**
 * `sluice config`: every key of the configuration with its type, default and effect.
 * @module
 */
import { readFile } from "node:fs/promises";
import type { Invocation } from "./commands.js";
import { configKeys, type ConfigKey, type SchemaNode } from "./config-keys.js";
import { CommandError, Exit } from "./exit.js";
import { textWidth, wrap } from "./help.js";
import { tabbedRow } from "./table.js";
import type { Output, Terminal } from "./terminal.js";

/** Written by the build from the tables that the configuration is read by. */
const SCHEMA = new URL("../config.schema.json", import.meta.url);

export async function run(invocation: Invocation, { output }: Terminal): Promise<number> {
  const schema = await readSchema();
  if (invocation.has("json")) await output.write(schema);
  else await printKeys(configKeys(JSON.parse(schema) as SchemaNode), output);
  return Exit.ok;
}

async function readSchema(): Promise<string> {
  try {
    return await readFile(SCHEMA, "utf8");
  } catch (error) {
    throw new CommandError(Exit.input, "the schema is missing from this installation: install mcp-sluice again", {
      cause: error,
    });
  }
}

/** Paragraphs for a person, tab-separated lines for a pipe. */
export async function printKeys(keys: readonly ConfigKey[], output: Output): Promise<void> {
  for (const key of keys) {
    const lines = output.isTerminal ? paragraph(key, output) : [tabbedRow(rowOf(key))];
    await output.write(`${lines.join("\n")}\n`);
  }
}

function rowOf({ key, type, default: standard, effect }: ConfigKey): string[] {
  return [key, type, standard ?? "", effect];
}

function paragraph({ key, type, default: standard, effect }: ConfigKey, output: Output): string[] {
  const kind = standard === undefined ? `${type}; required` : `${type}; default ${standard}`;
  const indented = (text: string): string[] => wrap(text, textWidth(output) - 2).map((line) => `  ${line}`);
  return [output.bold(key), ...indented(kind).map((line) => output.dim(line)), ...indented(effect), ""];
}
