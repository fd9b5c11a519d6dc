/** The pages for those who use ToolNode tell of every key, event, error and preset. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AnswerRef, InterceptorEvent } from "../../../web/src/node.js";
import {
  getPreset,
  readToolConfig,
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  ToolNodeError,
  type ToolNodeEvent,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "../../../web/src/tools.js";
import { builtInPresets } from "../../../web/src/tools/config/presets.js";
import { KEYS } from "../../../web/src/tools/config/config.js";
import { variableNames } from "../../../web/src/tools/config/variables.js";
import { ROOT } from "../cli/command.js";

describe("the page of tools", async () => {
  type Members<T> = Readonly<Record<keyof T, true>>;

  /** The compiler asks for each kind and each member. */
  const EVENTS: { readonly [Kind in ToolNodeEvent["kind"]]: Members<Extract<ToolNodeEvent, { readonly kind: Kind }>> } =
    {
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

  test.each(builtInPresets().names())("the preset %s has a row with what it needs", (name) => {
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
});

/** The page for those who write a client tells of every event, and of all that it has. */
describe("events", async () => {
  type Members<T> = Readonly<Record<keyof T, true>>;

  /** The compiler asks for each kind and each member. */
  const EVENTS: {
    readonly [Kind in InterceptorEvent["kind"]]: Members<Extract<InterceptorEvent, { readonly kind: Kind }>>;
  } = {
    stored: { kind: true, tool: true, artifacts: true, bytesIn: true, bytesOut: true },
    expanded: { kind: true, tool: true, id: true, path: true, form: true },
    failed: { kind: true, error: true },
  };
  const REF: Members<AnswerRef> = {
    id: true,
    mime_type: true,
    size_bytes: true,
    filename: true,
    sha256: true,
    scope: true,
    namespace: true,
    source: true,
  };

  const page = await readFile(join(ROOT, "docs/clients.md"), "utf8");
  const section = page.slice(page.indexOf("\n## Events\n"));

  test.each(Object.entries(EVENTS))("%s has a row with its members", (kind, { kind: _, ...members }) => {
    const row = section.split("\n").find((line) => line.startsWith(`| \`${kind}\` |`)) ?? "";
    expect(named(row)).toEqual(expect.arrayContaining(Object.keys(members)));
  });

  test("what an artifact of an event has is told", () => {
    const [told = ""] = /^A ref in `artifacts`[\s\S]*?\n\n/m.exec(section) ?? [];
    expect(named(told)).toEqual(expect.arrayContaining(Object.keys(REF)));
  });

  /** What stands in backticks. */
  function named(text: string): string[] {
    return Array.from(text.matchAll(/`(\w+)`/g), ([, name = ""]) => name);
  }
});

/** The page about the guardrail tells of every setting, with its default and its bounds. */
describe("the guardrail", async () => {
  interface Key {
    readonly default: unknown;
    readonly minimum?: number;
    readonly maximum?: number;
  }

  const page = await readFile(join(ROOT, "docs/guardrail.md"), "utf8");
  const schema = JSON.parse(await readFile(join(ROOT, "dist/config.schema.json"), "utf8")) as {
    readonly properties: { readonly guardrail: { readonly properties: Readonly<Record<string, Key>> } };
  };

  test.each(Object.entries(schema.properties.guardrail.properties))("%s has a row", (name, key) => {
    const row = page.split("\n").find((line) => line.startsWith(`| \`guardrail.${name}\` |`)) ?? "";
    expect(row).toContain(`\`${JSON.stringify(key.default)}\``);
    const bounds = [key.minimum, key.maximum].filter((bound) => bound !== undefined);
    for (const bound of bounds) expect(row.split("|").at(-2)).toContain(bound.toLocaleString("en"));
  });
});
