/**
 * `sluice tools list`
 * @module
 */
import { counted } from "../../core/amounts.js";
import type { ExternalToolConfig } from "../../tools/config.js";
import { getPreset, presetNames } from "../../tools/presets.js";
import type { ToolSpec } from "../../tools/registry.js";
import { variableNames } from "../../tools/variables.js";
import type { Invocation } from "../commands.js";
import { Exit, exitCodeOf } from "../exit.js";
import { StatusLine } from "../progress.js";
import { report } from "../report.js";
import { printRows, type Column } from "../table.js";
import type { Output, Terminal } from "../terminal.js";
import { NamedSources } from "./named-sources.js";

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
  const { toolsOf } = await import("./source-connection.js");
  const status = new StatusLine(terminal.errors, `connecting to ${counted(all.size, "source")}`);
  const looks = await toolsOf([...all], terminal).finally(() => status.done());
  await print(
    looks.flatMap(({ tools }) => tools),
    json,
    terminal.output,
  );
  for (const line of looks.flatMap(({ told }) => told)) await terminal.errors.write(`${line}\n`);
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

/** A preset as `--json` tells of it. */
interface PresetFacts {
  readonly name: string;
  readonly description: string;
  readonly auth_type: string;
  /** Names of variables that must have a value. */
  readonly variables: readonly string[];
}

const PRESET_COLUMNS: readonly Column[] = [{ title: "PRESET" }, { title: "FOR" }, { title: "NEEDS" }];

async function printPresets(output: Output, json: boolean): Promise<void> {
  const presets = presetNames().map((name) => factsOf(name, getPreset(name)));
  if (json) {
    await output.write(`${JSON.stringify(presets, null, 2)}\n`);
    return;
  }
  const rows = presets.map((preset) => [preset.name, preset.description, needsOf(preset)]);
  await printRows(PRESET_COLUMNS, rows, output, "wrap");
  if (output.isTerminal) {
    await output.write(output.dim("sluice tools connect PRESET tries one; variables are those of the environment\n"));
  }
}

function factsOf(name: string, preset: ExternalToolConfig): PresetFacts {
  const { description = "", connection, auth_type = "none", env = {}, auth_config = {} } = preset;
  const variables = variableNames([connection, ...Object.values(env), ...Object.values(auth_config)].join("\n"));
  return { name, description, auth_type, variables };
}

function needsOf({ variables, auth_type }: PresetFacts): string {
  return [...variables, ...(auth_type === "oauth2_user" ? ["each user's sign-in"] : [])].join(", ");
}
