/**
 * `sluice tools list`: lists the presets, or the tools of sources.
 *
 * The operands and options are in `../commands/sources.ts`.
 * @module
 */
import { countNoun } from "../../core/amounts.js";
import type { ExternalToolConfig } from "../../tools/config/config.js";
import { getPreset, presetNames } from "../../tools/config/presets.js";
import type { ToolSpec } from "../../tools/registry.js";
import { variableNames } from "../../tools/config/variables.js";
import type { Invocation } from "../command.js";
import { Exit, toExitCode } from "../exit.js";
import { printJson } from "../terminal/json.js";
import { StatusLine } from "../terminal/progress.js";
import { report } from "../terminal/report.js";
import { printRows, type Column } from "../terminal/table.js";
import type { Output, Terminal } from "../terminal/terminal.js";
import { readSources, sourceNamed } from "./named-sources.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const json = invocation.has("json");
  if (invocation.value("config") === undefined && invocation.operands.length === 0) {
    await printPresets(terminal.output, json);
    return Exit.ok;
  }
  const sources = await readSources(invocation);
  const named = invocation.operands.map((name) => sourceNamed(name, sources, invocation.command));
  const all = new Set(named.length > 0 ? named : sources);
  const { listTools: toolsOf } = await import("./source-connection.js");
  const status = new StatusLine(terminal.errors, `connecting to ${countNoun(all.size, "source")}`);
  const looks = await toolsOf([...all], terminal).finally(() => status.done());
  await print(
    looks.flatMap(({ tools }) => tools),
    json,
    terminal.output,
  );
  for (const line of looks.flatMap(({ told }) => told)) await terminal.errors.write(`${line}\n`);
  const failures = looks.flatMap(({ error }) => (error === undefined ? [] : [error]));
  for (const error of failures) await report(error, terminal.errors, undefined);
  return failures.length === 0 ? Exit.ok : toExitCode(failures[0]);
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
    await printJson(facts, output);
    return;
  }
  await printRows(
    COLUMNS,
    tools.map(({ name, side_effects, description }) => [name, side_effects, description]),
    output,
  );
}

/** A preset as `--json` prints it. */
interface PresetFacts {
  readonly name: string;
  readonly description: string;
  readonly auth_type: string;
  /** Names of the variables that it needs. */
  readonly variables: readonly string[];
}

const PRESET_COLUMNS: readonly Column[] = [{ title: "PRESET" }, { title: "FOR" }, { title: "NEEDS" }];

async function printPresets(output: Output, json: boolean): Promise<void> {
  const presets = presetNames().map((name) => readFacts(name, getPreset(name)));
  if (json) {
    await printJson(presets, output);
    return;
  }
  const rows = presets.map((preset) => [preset.name, preset.description, listNeeds(preset)]);
  await printRows(PRESET_COLUMNS, rows, output, "wrap");
  if (output.isTerminal) {
    await output.write(
      output.dim("try one with sluice tools connect PRESET; the variables come from the environment\n"),
    );
  }
}

function readFacts(name: string, preset: ExternalToolConfig): PresetFacts {
  const { description = "", connection, auth_type = "none", env = {}, auth_config = {} } = preset;
  const variables = variableNames([connection, ...Object.values(env), ...Object.values(auth_config)].join("\n"));
  return { name, description, auth_type, variables };
}

function listNeeds({ variables, auth_type }: PresetFacts): string {
  return [...variables, ...(auth_type === "oauth2_user" ? ["each user's sign-in"] : [])].join(", ");
}
