/**
 * The `interceptor` section of a configuration.
 * @module
 */
import { checkSections, readSettings } from "../config/check.js";
import { INTERCEPTOR_SCHEMA } from "../config/schema.mjs";
import type { ShareRule, SluiceConfig } from "../config/types.js";
import { SluiceError } from "../errors/error.js";
import { isObject } from "../errors/arguments.js";
import type { ArtifactForms } from "./arguments/arguments.js";

/** The `interceptor` section with all defaults filled in. */
interface InterceptorSettings {
  readonly on_store_failure: "answer" | "error";
  /** By tool, then by place. */
  readonly arguments: Readonly<Record<string, ArtifactForms>>;
  /** Rules that let artifacts of other servers into arguments. */
  readonly share: readonly ShareRule[];
}

/**
 * Checks `interceptor` and fills in the defaults.
 *
 * @throws SluiceError E_CONFIG_KEY or E_CONFIG_VALUE with the path of the key, `interceptor.arguments`.
 */
export function readInterceptor(config: SluiceConfig | undefined): InterceptorSettings {
  // The core rejects a configuration that is not an object.
  const given: unknown = isObject(config) ? config["interceptor"] : undefined;
  return readSettings(given === undefined ? {} : given, INTERCEPTOR_SCHEMA, "interceptor") as InterceptorSettings;
}

/**
 * Refuses a key that has no effect between a client and a server: links are read by the host.
 *
 * @throws SluiceError E_CONFIG_VALUE with the path of the key.
 */
export function refuseAutoRead(config: SluiceConfig | undefined): void {
  const resources: unknown = isObject(config) ? config["resources"] : undefined;
  const limit = isObject(resources) ? resources["auto_read_if_size_under_bytes"] : undefined;
  if (typeof limit !== "number" || limit <= 0) return;
  const path = "resources.auto_read_if_size_under_bytes";
  const remedy = "leave it out: the host reads links, and a ToolNode reads them by this key.";
  throw new SluiceError("E_CONFIG_VALUE", `${path} has no effect between a client and its server; ${remedy}`, { path });
}

/** The namespaces whose artifacts a tool may receive: its own, and those that a rule grants. */
export function listSharedNamespaces(share: readonly ShareRule[], namespace: string, tool: string): readonly string[] {
  const to = `${namespace}.${tool}`;
  return [namespace, ...share.flatMap((rule) => (rule.to === to ? [rule.from] : []))];
}

/**
 * The configuration without `interceptor`, which is checked all the same, as are the names of all sections.
 *
 * @throws SluiceError as {@link readInterceptor}, and E_CONFIG_KEY for an unknown section.
 */
export function withoutInterceptor(config: SluiceConfig | undefined): SluiceConfig | undefined {
  readInterceptor(config);
  if (!isObject(config)) return config;
  checkSections(config);
  const { interceptor: _, ...rest } = config;
  return rest;
}
