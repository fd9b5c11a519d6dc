/** The pages for those who use ToolNode tell of every key, event, error and preset. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { KEYS } from "../../../web/src/tools/config/config.js";
import { variableNames } from "../../../web/src/tools/config/variables.js";
import {
  getPreset,
  presetNames,
  readToolConfig,
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
  type ToolNodeEvent,
} from "../../../web/src/tools.js";
import { ROOT } from "../cli/command.js";

type Members<T> = Readonly<Record<keyof T, true>>;

/** The compiler asks for each kind and each member. */
const EVENTS: { readonly [Kind in ToolNodeEvent["kind"]]: Members<Extract<ToolNodeEvent, { readonly kind: Kind }>> } = {
  stored: { kind: true, tool: true, artifacts: true },
  expanded: { kind: true, tool: true, id: true, path: true, form: true },
  failed: { kind: true, tool: true, error: true },
  refused: {
    kind: true,
    where: true,
    tool: true,
    user_id: true,
    tenant_id: true,
    time: true,
    refused: true,
    error: true,
    message: true,
  },
  retry: { kind: true, error: true, attempt: true, wait_s: true },
  waiting: { kind: true, tool: true, call: true, scope: true, after_s: true, message: true, is_over: true },
  left_alone: { kind: true },
  recovered: { kind: true },
  tools_changed: { kind: true, names: true, error: true },
  left_out: { kind: true, count: true, tools: true },
  resource: { kind: true, event: true },
};
const ERRORS = [
  ToolNodeError,
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
];

/** Those that must be given, and the one whose keys have rows of their own. */
const WITHOUT_DEFAULT: ReadonlySet<string> = new Set(["name", "transport", "connection", "retry_policy"]);

const tools = await page("tools");
const concurrency = await page("concurrency");
const presets = await page("presets");

describe("configuration", () => {
  const { "": keys = [], retry_policy: rules = [] } = KEYS;
  const defaults = { ...readToolConfig({ name: "a", transport: "mcp", connection: "a" }) };

  test.each(keys)("%s has a row", (key) => {
    expect(rowOf(tools, key)).not.toBe("");
  });

  test.each(keys.filter((key) => !WITHOUT_DEFAULT.has(key)))("the row of %s tells its default", (key) => {
    expect(rowOf(tools, key)).toContain(
      `\`${JSON.stringify(defaults[key as keyof typeof defaults]).replaceAll(",", ", ")}\``,
    );
  });

  test.each(rules)("retry_policy.%s has a row with its default", (key) => {
    const value = defaults.retry_policy[key as keyof typeof defaults.retry_policy];
    expect(rowOf(concurrency, `retry_policy.${key}`)).toContain(`\`${JSON.stringify(value).replaceAll(",", ", ")}\``);
  });
});

test.each(Object.entries(EVENTS))("the event %s has a row with its members", (kind, { kind: _, ...members }) => {
  for (const member of Object.keys(members)) expect(rowOf(tools, kind)).toContain(`\`${member}\``);
});

test.each(ERRORS)("%o has a row with its code and category", (Class) => {
  const { name, code, category } = new Class("");
  expect(rowOf(tools, name)).toContain(`\`${code}\``);
  expect(rowOf(tools, name)).toContain(`\`${category}\``);
});

test.each(presetNames())("the preset %s has a row with what it needs", (name) => {
  const { connection, env = {}, auth_config = {}, auth_type } = getPreset(name);
  const variables = variableNames([connection, ...Object.values({ ...env, ...auth_config })].join(" "));
  const needs = [
    ...variables.map((variable) => `\`${variable}\``),
    ...(auth_type === "oauth2_user" ? ["sign-in"] : []),
  ];
  const row = rowOf(presets, name);
  expect(row).not.toBe("");
  for (const need of needs) expect(row).toContain(need);
});

function page(name: string): Promise<string> {
  return readFile(join(ROOT, `docs/${name}.md`), "utf8");
}

function rowOf(text: string, first: string): string {
  return text.split("\n").find((line) => line.startsWith(`| \`${first}\` |`)) ?? "";
}
