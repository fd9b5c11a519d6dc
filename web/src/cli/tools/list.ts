/**
 * `sluice tools list`
 * @module
 */
import type { ToolSpec } from "../../tools/registry.js";
import { counted } from "../../core/amounts.js";
import { Exit, exitCodeOf } from "../exit.js";
import { report } from "../report.js";
import type { Invocation } from "../spec.js";
import type { Column } from "../table.js";
import type { Output, Terminal } from "../terminal.js";
import { NamedSources } from "./named-sources.js";
import { printPresets } from "./presets-table.js";
import { printRows } from "./rows.js";
import { StatusLine } from "./status-line.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const config = invocation.value("config");
  const json = invocation.has("json");
  if (config === undefined && invocation.operands.length === 0) {
    await printPresets(terminal.output, json);
    return Exit.ok;
  }
  const sources = await NamedSources.read(config, invocation.command);
  const named = invocation.operands.map((name) => sources.find(name));
  const all = new Set(named.length > 0 ? named : sources.ofFile);
  const { toolsOf } = await import("./tools-of.js");
  const status = new StatusLine(terminal.errors, `connecting to ${counted(all.size, "source")}`);
  const looks = await toolsOf([...all], terminal).finally(() => status.done());
  await print(
    looks.flatMap(({ tools }) => tools),
    json,
    terminal.output,
  );
  const failures = looks.flatMap(({ error }) => (error === undefined ? [] : [error]));
  for (const error of failures) await report(error, terminal.errors, undefined);
  return failures.length === 0 ? Exit.ok : exitCodeOf(failures[0]);
}

const COLUMNS: readonly Column[] = [{ title: "TOOL" }, { title: "EFFECTS" }, { title: "DESCRIPTION" }];

async function print(tools: readonly ToolSpec[], json: boolean, output: Output): Promise<void> {
  if (json) {
    const facts = tools.map(({ name, description, input_schema, side_effects }) => ({
      name,
      description,
      input_schema,
      side_effects,
    }));
    await output.write(`${JSON.stringify(facts, null, 2)}\n`);
    return;
  }
  await printRows(
    COLUMNS,
    tools.map(({ name, side_effects, description }) => [name, side_effects, description]),
    output,
  );
}
