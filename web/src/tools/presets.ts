/**
 * Servers that people use, with the places in their results that hold artifacts (ToolNode 2.1 "Popular MCP Servers";
 * RFC 0.3 §6 phase 4).
 * @module
 */
import type { ExternalToolConfig } from "./config.js";
import { chromeDevtools } from "./presets/chrome-devtools.js";
import { filesystem } from "./presets/filesystem.js";
import { github } from "./presets/github.js";
import { githubFiles } from "./presets/github-files.js";
import { googleDrive } from "./presets/google-drive.js";
import { playwright } from "./presets/playwright.js";
import { postgres } from "./presets/postgres.js";
import { PresetRegistry } from "./presets/registry.js";
import { slack } from "./presets/slack.js";
import { sqlite } from "./presets/sqlite.js";
import { tableau } from "./presets/tableau.js";

/** A registry of its own with the presets that come with the library, for programs that share a process. */
export function builtInPresets(): PresetRegistry {
  return new PresetRegistry([
    chromeDevtools,
    filesystem,
    github,
    githubFiles,
    googleDrive,
    playwright,
    postgres,
    slack,
    sqlite,
    tableau,
  ]);
}

const presets = builtInPresets();

/** Adds a preset for the whole program. Throws ToolConfigError where the name is taken, or the configuration wrong. */
export function registerPreset(name: string, config: ExternalToolConfig): void {
  presets.register(name, config);
}

/** A preset by its name. Throws ToolConfigError that tells which there are. */
export function getPreset(name: string): ExternalToolConfig {
  return presets.get(name);
}

/** The names of all presets, in the order of the alphabet. */
export function presetNames(): readonly string[] {
  return presets.names();
}

export { PresetRegistry };
