/**
 * The presets that there are.
 * @module
 */
import type { ExternalToolConfig } from "../../tools/config.js";
import { getPreset, presetNames } from "../../tools/presets.js";
import { variableNames } from "../../tools/variables.js";
import type { Column } from "../table.js";
import type { Output } from "../terminal.js";
import { printRows } from "./rows.js";

/** A preset as `--json` tells of it. */
interface PresetFacts {
  readonly name: string;
  readonly description: string;
  readonly auth_type: string;
  /** Names of variables that must have a value. */
  readonly variables: readonly string[];
}

const COLUMNS: readonly Column[] = [{ title: "PRESET" }, { title: "FOR" }, { title: "NEEDS" }];

/** Prints every preset: its name, what it is for, and what it needs. */
export async function printPresets(output: Output, json: boolean): Promise<void> {
  const presets = presetNames().map((name) => factsOf(name, getPreset(name)));
  if (json) {
    await output.write(`${JSON.stringify(presets, null, 2)}\n`);
    return;
  }
  const rows = presets.map((preset) => [preset.name, preset.description, needsOf(preset)]);
  await printRows(COLUMNS, rows, output, "wrap");
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
