/**
 * Sources by name, ready to be used.
 * @module
 */
import { readRetention } from "../../artifacts/retention/policy.js";
import { checkCoreConfig } from "../../core/config-check.js";
import { SluiceError } from "../../errors/error.js";
import { nearest } from "../../errors/nearest.js";
import { withoutDoor } from "../../mcp/door-config.js";
import { readToolConfig, type ExternalToolConfig } from "../config.js";
import { ToolConfigError } from "../config/problem.js";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Presets that an error tells the names of. */
const MAX_TOLD = 50;

/** Presets that are known by name. What it holds never changes once it is registered. */
export class PresetRegistry {
  readonly #presets = new Map<string, ExternalToolConfig>();

  /**
   * Starts with presets under the names of their sources.
   *
   * @throws ToolConfigError as `register` does; its path begins with the place in the list, such as `[2].connection`.
   */
  constructor(presets: readonly ExternalToolConfig[] = []) {
    for (const [at, preset] of presets.entries()) {
      checkPreset(preset, `[${at}]`);
      this.#add(preset.name, preset);
    }
  }

  /**
   * Adds a preset.
   *
   * @throws ToolConfigError E_TOOL_CONFIG where the name is taken or no name, or the configuration is wrong, with the path of
   * what is wrong in it.
   */
  register(name: string, config: ExternalToolConfig): void {
    if (typeof name !== "string" || !NAME.test(name)) {
      throw new ToolConfigError("", "A preset's name is 1 to 64 ASCII letters, digits, '-' and '_'.");
    }
    checkPreset(config, "");
    this.#add(name, config);
  }

  #add(name: string, config: ExternalToolConfig): void {
    if (this.#presets.has(name)) {
      throw new ToolConfigError("", `There is a preset ${name} already: register this one under another name.`);
    }
    this.#presets.set(name, frozen(config));
  }

  /**
   * A preset, to be used as it is or spread into another: `{ ...get("github"), name: "work" }`.
   *
   * @throws ToolConfigError E_TOOL_CONFIG that tells which presets there are.
   */
  get(name: string): ExternalToolConfig {
    const preset = this.#presets.get(name);
    if (preset !== undefined) return preset;
    throw this.#unknown(name);
  }

  /** All names, in the order of the alphabet. */
  names(): readonly string[] {
    return [...this.#presets.keys()].sort();
  }

  #unknown(name: string): ToolConfigError {
    const names = this.names();
    const meant = nearest(name.slice(0, 64).toLowerCase().replaceAll("_", "-"), names);
    const known = names.slice(0, MAX_TOLD).join(", ") + (names.length > MAX_TOLD ? ", …" : "");
    const remedy = meant === undefined ? `there are ${known}` : `did you mean ${meant}? There are ${known}`;
    return new ToolConfigError("", `There is no ${NAME.test(name) ? `preset ${name}` : "such preset"}: ${remedy}.`);
  }
}

/** Checks all that a ToolNode would check of it, but for variables, which only then have values. Throws ToolConfigError. */
function checkPreset(config: unknown, path: string): void {
  const { artifact_extraction: extraction } = readToolConfig(config, path);
  try {
    withoutDoor(extraction);
    if (extraction.retention !== undefined) readRetention(extraction.retention);
    checkCoreConfig(extraction);
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const below = path === "" ? "artifact_extraction" : `${path}.artifact_extraction`;
    throw new ToolConfigError(`${below}.${error.path ?? ""}`, `In ${below}: ${error.message}`);
  }
}

/** A copy that nobody can change, down to the last list; functions stay what they are. */
function frozen<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map(frozen)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, frozen(member)]))) as T;
}
