/**
 * The `interceptor` section of a configuration.
 * @module
 */
import { checkSections, type InterceptorConfig, type ShareRule, type SluiceConfig } from "../core/config.js";
import { SluiceError } from "../errors/error.js";
import type { ArtifactForm, ArtifactForms } from "./arguments/arguments.js";
import { isObject } from "../errors/arguments.js";

/** The `interceptor` section with all defaults filled in. */
interface InterceptorSettings {
  readonly on_store_failure: "answer" | "error";
  /** By tool, then by place. */
  readonly arguments: Readonly<Record<string, ArtifactForms>>;
  /** Rules that let artifacts of other servers into arguments. */
  readonly share: readonly ShareRule[];
}

/** The section as JSON Schema. */
interface InterceptorSchema {
  readonly description: string;
  readonly type: "object";
  readonly additionalProperties: false;
  readonly properties: Readonly<Record<keyof InterceptorConfig, object>>;
}

const WAYS: readonly InterceptorSettings["on_store_failure"][] = ["answer", "error"];
const FORMS: readonly ArtifactForm[] = ["base64", "data_uri", "text", "path"];
const MAX_TOOLS = 1000;
const MAX_TOOL_NAME = 200;
const MAX_PLACES = 100;
const MAX_PLACE = 500;
const MAX_RULES = 100;
const MAX_NAMESPACE = 64;
/** Non-empty names joined by dots. */
const PLACE = "^[^.]+(\\.[^.]+)*$";
const NAMESPACE = `^[A-Za-z0-9_-]{1,${MAX_NAMESPACE}}$`;
const SHARED_TOOL = `^[A-Za-z0-9_-]{1,${MAX_NAMESPACE}}\\..+$`;

/**
 * Every key with its default and description, as JSON Schema. The documentation is generated from it, and its bounds
 * are the ones that are checked.
 */
export const INTERCEPTOR_SCHEMA: InterceptorSchema = {
  description: "How results and arguments pass an interceptor: a proxy, a transport or a wrapped client.",
  type: "object",
  additionalProperties: false,
  properties: {
    on_store_failure: {
      description:
        "What a client gets when the store fails at a result. answer: the result, with references that say what was " +
        "not stored and why; error: a JSON-RPC error that says so.",
      default: "answer",
      enum: WAYS,
    },
    arguments: {
      description:
        "By tool, the arguments that take an artifact in one form, whatever the tool's schema says: names, list " +
        "indexes and * joined by dots, each with base64, data_uri, text, or path, the path of a private copy.",
      default: {},
      type: "object",
      maxProperties: MAX_TOOLS,
      propertyNames: { title: "tool", minLength: 1, maxLength: MAX_TOOL_NAME },
      additionalProperties: {
        type: "object",
        maxProperties: MAX_PLACES,
        propertyNames: { title: "path", minLength: 1, maxLength: MAX_PLACE, pattern: PLACE },
        additionalProperties: { enum: FORMS },
      },
    },
    share: {
      description:
        "Artifacts that tools may be given besides those of their own server, from one namespace to one tool each.",
      default: [],
      type: "array",
      maxItems: MAX_RULES,
      items: {
        type: "object",
        additionalProperties: false,
        required: ["from", "to"],
        properties: {
          from: {
            description: "The namespace that artifacts came from, such as playwright.",
            type: "string",
            pattern: NAMESPACE,
          },
          to: {
            description: "The tool that may be given them, with its own namespace, such as drive.upload.",
            type: "string",
            pattern: SHARED_TOOL,
            maxLength: MAX_NAMESPACE + 1 + MAX_TOOL_NAME,
          },
        },
      },
    },
  },
};

const IS_PLACE = new RegExp(PLACE, "u");
const IS_NAMESPACE = new RegExp(NAMESPACE, "u");
const IS_SHARED_TOOL = new RegExp(SHARED_TOOL, "u");
const KEYS = Object.keys(INTERCEPTOR_SCHEMA.properties);

/**
 * Checks `interceptor` and fills in the defaults.
 *
 * @throws SluiceError E_CONFIG_KEY or E_CONFIG_VALUE with the path of the key, `interceptor.arguments`.
 */
export function readInterceptor(config: SluiceConfig | undefined): InterceptorSettings {
  // The core rejects a configuration that is not an object.
  const given: unknown = config?.interceptor;
  if (given === undefined) return readInterceptor({ interceptor: {} });
  if (!isObject(given)) throw wrong("interceptor", 'an object, such as {"on_store_failure": "error"}');
  for (const name of Object.keys(given)) if (!KEYS.includes(name)) throw unknown(name);
  const { on_store_failure = "answer", arguments: forms = {}, share = [] } = given as InterceptorConfig;
  if (!WAYS.includes(on_store_failure)) throw wrong("interceptor.on_store_failure", oneOf(WAYS));
  checkTools(forms);
  checkRules(share);
  return { on_store_failure, arguments: forms, share };
}

/** The namespaces whose artifacts a tool may receive: its own, and those that a rule grants. */
export function sharedWith(share: readonly ShareRule[], namespace: string, tool: string): readonly string[] {
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

function checkTools(tools: unknown): void {
  const path = "interceptor.arguments";
  for (const [tool, places] of entries(tools, path, "tools", MAX_TOOLS)) {
    if (!isName(tool, MAX_TOOL_NAME)) throw wrong(path, `keyed by names of 1 to ${MAX_TOOL_NAME} characters`);
    const at = `${path}.${shown(tool)}`;
    for (const [place, form] of entries(places, at, "arguments", MAX_PLACES)) {
      if (!isName(place, MAX_PLACE) || !IS_PLACE.test(place)) {
        throw wrong(at, `keyed by names joined by dots, of 1 to ${MAX_PLACE} characters`);
      }
      if (!FORMS.includes(form as ArtifactForm)) throw wrong(`${at}.${shown(place)}`, oneOf(FORMS));
    }
  }
}

function checkRules(share: unknown): void {
  const path = "interceptor.share";
  if (!Array.isArray(share) || share.length > MAX_RULES) throw wrong(path, `a list of at most ${MAX_RULES} rules`);
  for (const [index, rule] of (share as unknown[]).entries()) {
    const at = `${path}.${index}`;
    if (!isObject(rule)) throw wrong(at, 'an object, such as {"from": "playwright", "to": "drive.upload"}');
    for (const name of Object.keys(rule)) if (name !== "from" && name !== "to") throw unknown(`share.${index}.${name}`);
    const { from, to } = rule as Partial<ShareRule>;
    if (typeof from !== "string" || !IS_NAMESPACE.test(from))
      throw wrong(`${at}.from`, "a namespace, such as playwright");
    if (typeof to !== "string" || to.length > MAX_NAMESPACE + 1 + MAX_TOOL_NAME || !IS_SHARED_TOOL.test(to)) {
      throw wrong(`${at}.to`, "a tool with its namespace, such as drive.upload");
    }
  }
}

function entries(value: unknown, path: string, what: string, most: number): [name: string, value: unknown][] {
  const all = isObject(value) ? Object.entries(value) : undefined;
  if (all === undefined || all.length > most) throw wrong(path, `an object of at most ${most} ${what}`);
  return all;
}

/** Counts code points, as JSON Schema does. */
function isName(name: string, most: number): boolean {
  return name !== "" && name.length <= 2 * most && Array.from(name).length <= most;
}

function shown(name: string): string {
  return name.slice(0, 100);
}

function oneOf(words: readonly string[]): string {
  return `one of ${words.map((word) => JSON.stringify(word)).join(", ")}`;
}

function wrong(path: string, wanted: string): SluiceError {
  return new SluiceError("E_CONFIG_VALUE", `${JSON.stringify(path)} must be ${wanted}.`, { path });
}

function unknown(name: string): SluiceError {
  const path = `interceptor.${shown(name)}`;
  const sentence = `${JSON.stringify(path)} is no configuration key; interceptor has ${KEYS.join(", ")}.`;
  return new SluiceError("E_CONFIG_KEY", sentence, { path });
}
