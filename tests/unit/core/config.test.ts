/** The configuration: every key does something, and what is wrong is named. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { configKeys, type SchemaNode } from "../../../web/src/cli/config.js";
import { createSluice, type SluiceConfig, type TransformOptions } from "../../../web/src/index.js";
import { createInterceptor } from "../../../web/src/mcp/interceptor-options.js";
import { noise } from "../artifacts/bytes.js";
import { base64, PDF, PNG, prose, TAR } from "./samples.js";

type Members = Readonly<Record<string, unknown>>;

/** An input for which two values of a key give different answers. */
interface Case {
  readonly input: unknown;
  readonly one: unknown;
  readonly other: unknown;
  /** What else is configured, for both. */
  readonly beside?: Members;
  readonly call?: TransformOptions;
}

const FIELD = { field_path: "a", content_type: "file" };
const ROWS = Array.from({ length: 300 }, (_, n) => ({ n, text: prose(400) }));
const CLAMPED = { auto_artifact_large_content: false, guardrail: { auto_artifact_threshold: 1_000_000 } };
const LINKED = { content: [{ type: "resource_link", uri: "file:///a.txt", name: "a", size: 500 }] };
const READING = { resources: { auto_read_if_size_under_bytes: 1_000 } };
const readResource = (uri: string): Promise<unknown> => Promise.resolve({ contents: [{ uri, text: "read" }] });
const IMAGES = { content: [1, 2, 3].map(() => ({ type: "image", data: base64(PNG), mimeType: "image/png" })) };
const SHOWING = { dialect: "mcp", clientShowsImages: true } as const;
const SHORT_RUN = { run: base64(PDF).slice(0, 800) };
const field = (members: Members): unknown => ({ tool: [{ ...FIELD, ...members }] });
const a = { a: base64(Buffer.from("bytes of a file")), b: { c: base64(Buffer.from("bytes of another")) } };
const TOOL = { tool: "tool" };

const CASES: Readonly<Record<string, Case>> = {
  max_inline_size: { input: prose(2_000), one: 1_000, other: 10_000 },
  auto_artifact_large_content: { input: prose(20_000), one: true, other: false },
  "binary_detection.enabled": { input: { pdf: base64(PDF.subarray(0, 3_000)) }, one: true, other: false },
  "binary_detection.signatures": {
    input: base64(Buffer.concat([Buffer.from("ACME"), noise(3_000)])),
    one: { QUNNR: ["acme", "application/x-acme"] },
    other: {},
  },
  "binary_detection.min_size_for_detection": { input: SHORT_RUN, one: 100, other: 1_000 },
  // what makes it a tar archive stands at byte 257
  "binary_detection.max_decode_bytes": { input: { tar: base64(TAR) }, one: 16, other: 5_000_000 },
  "binary_detection.require_magic_bytes": { input: { run: base64(noise(3_000)) }, one: true, other: false },
  "resources.enabled": { input: LINKED, one: true, other: false, beside: READING, call: { readResource } },
  "resources.auto_read_if_size_under_bytes": { input: LINKED, one: 0, other: 501, call: { readResource } },
  "resources.inline_text_if_under_chars": { input: LINKED, one: 4, other: 5, beside: READING, call: { readResource } },
  "resources.cache_reads_to_artifacts": {
    input: LINKED,
    one: true,
    other: false,
    beside: READING,
    call: { readResource },
  },
  tool_fields: { input: a, one: {}, other: field({}), call: TOOL },
  "tool_fields.<tool>[].field_path": { input: a, one: field({}), other: field({ field_path: "b.c" }), call: TOOL },
  "tool_fields.<tool>[].content_type": {
    input: a,
    one: field({ summary_template: "A {content_type}." }),
    other: field({ summary_template: "A {content_type}.", content_type: "picture" }),
    call: TOOL,
  },
  "tool_fields.<tool>[].mime_type": { input: a, one: field({}), other: field({ mime_type: "text/x-a" }), call: TOOL },
  "tool_fields.<tool>[].summary_template": {
    input: a,
    one: field({}),
    other: field({ summary_template: "A." }),
    call: TOOL,
  },
  default_summary_template: { input: { pdf: base64(PDF) }, one: null, other: "{size} bytes, {description}" },
  "guardrail.max_observation_chars": { input: ROWS, one: 5_000, other: 6_000, beside: CLAMPED },
  "guardrail.max_field_chars": {
    input: { long: prose(90_000), short: prose(1_000) },
    one: 500,
    other: 2_000,
    beside: CLAMPED,
  },
  "guardrail.truncation_suffix": {
    input: { long: prose(90_000) },
    one: "…",
    other: "[{truncated_chars}]",
    beside: CLAMPED,
  },
  "guardrail.preserve_structure": { input: ROWS, one: true, other: false, beside: CLAMPED },
  "guardrail.auto_artifact_threshold": { input: ROWS, one: 20_000, other: 1_000_000, beside: CLAMPED },
  inline_media: { input: IMAGES, one: "auto", other: "off", call: SHOWING },
  "inline_media.types": { input: IMAGES, one: ["image/jpeg"], other: ["image/*"], call: SHOWING },
  "inline_media.max_bytes": { input: IMAGES, one: PNG.length - 1, other: PNG.length, call: SHOWING },
  "inline_media.max_count": { input: IMAGES, one: 1, other: 3, call: SHOWING },
  prefer: {
    input: { content: [{ type: "text", text: "words" }], structuredContent: { n: 1 } },
    one: "structured",
    other: "content",
  },
};

/** The keys that the core reads; those of retention are the store's, those of interceptors the interceptors'. */
async function keys(): Promise<string[]> {
  const schema = await readFile(new URL("../../../dist/config.schema.json", import.meta.url), "utf8");
  const all = configKeys(JSON.parse(schema) as SchemaNode).map(({ key }) => key);
  return all.filter((key) => !/^(?:retention|interceptor)\./.test(key));
}

/** Every section, the ones that the core never sees included. */
async function sections(): Promise<string[]> {
  const schema = await readFile(new URL("../../../dist/config.schema.json", import.meta.url), "utf8");
  return Object.keys((JSON.parse(schema) as SchemaNode).properties ?? {});
}

/** Types would refuse what these tests give; the core has to refuse it as well. */
const create = (config: unknown): ReturnType<typeof createSluice> => createSluice({ config: config as SluiceConfig });

/** `{"a": {"b": value}}` for the key `a.b`, laid over what is configured beside. */
function configured(key: string, value: unknown, beside: Members = {}): Members {
  const [first = "", ...rest] = key.startsWith("tool_fields") ? ["tool_fields"] : key.split(".");
  const inner = beside[first] as Members | undefined;
  return { ...beside, [first]: rest.length === 0 ? value : configured(rest.join("."), value, inner) };
}

test("every key of the core has a case here, and there is no case for what is none", async () => {
  expect(Object.keys(CASES).sort()).toEqual((await keys()).sort());
});

describe.each(Object.entries(CASES))("%s", (key, { input, one, other, beside, call }) => {
  test("changes what comes out", async () => {
    const answers = [];
    for (const value of [one, other, one]) {
      const store = new MemoryArtifactStore();
      const sluice = await createSluice({ store, config: configured(key, value, beside) });
      answers.push((await sluice.transform(input, call)).text);
    }
    expect(answers[0]).not.toBe(answers[1]);
    expect(answers[0]).toBe(answers[2]);
  });

  test("refuses what is no value of it, and names it", async () => {
    const last = key.slice(key.lastIndexOf(".") + 1);
    const inField = key.startsWith("tool_fields.");
    const wrong = inField ? { tool: [{ ...FIELD, [last]: 7 }] } : Number.NaN;
    const path = inField ? `tool_fields.tool[0].${last}` : key;
    const config = configured(key, inField ? wrong : [[]], beside);
    await expect(create(config)).rejects.toMatchObject({ code: "E_CONFIG_VALUE", path });
  });
});

describe("what is wrong is named", () => {
  test.each([
    [{ max_inline_sise: 1 }, "max_inline_sise"],
    [{ guardrail: { max: 1 } }, "guardrail.max"],
    [{ "guardrail.max_field_chars": 100 }, "guardrail.max_field_chars"],
    [{ tool_fields: { t: [{ ...FIELD, path: "x" }] } }, "tool_fields.t[0].path"],
    [{ binary_detection: { Enabled: true } }, "binary_detection.Enabled"],
  ])("an unknown key: %j", async (config, path) => {
    await expect(create(config)).rejects.toMatchObject({ code: "E_CONFIG_KEY", path });
  });

  test("a misspelt key is told the one that was meant", async () => {
    const creating = create({ max_inline_sise: 1 });
    await expect(creating).rejects.toThrow("max_inline_size");
  });

  test.each([
    ["retension", "retention"],
    ["interceptors", "interceptor"],
    ["maxInlineSize", "max_inline_size"],
    ["Tool-Fields", "tool_fields"],
  ])("so is a section, whoever reads it: %s", async (name, meant) => {
    const creating = create({ [name]: {} });
    await expect(creating).rejects.toThrow(`${name} is not a configuration key; did you mean ${meant}?`);
  });

  test.each(["proxy", "ttl_seconds", "__proto__", "constructor"])(
    "any other section is told all that there are: %s",
    async (name) => {
      const config = JSON.parse(`{"interceptor":{},"retention":{},${JSON.stringify(name)}:{}}`) as SluiceConfig;
      for (const read of [create, (given: SluiceConfig) => createInterceptor({ config: given })]) {
        const error: unknown = await read(config).catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: "E_CONFIG_KEY", path: name });
        const [, listed = ""] = /; the keys are (.*)$/.exec((error as Error).message) ?? [];
        expect(listed.split(/, | and /).sort()).toEqual((await sections()).sort());
      }
    },
  );

  test("what is told of a name is bounded, and what has no value is no section", async () => {
    const error: unknown = await create({ ["\u{1f600}".repeat(1_000_000)]: 1 }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "E_CONFIG_KEY", path: "\u{1f600}".repeat(64) });
    await expect(create({ proxy: undefined })).resolves.toBeDefined();
  });

  test.each([
    [{ max_inline_size: 255 }, "max_inline_size"],
    [{ max_inline_size: 1.5 }, "max_inline_size"],
    [{ max_inline_size: "10000" }, "max_inline_size"],
    [{ max_inline_size: null }, "max_inline_size"],
    [{ guardrail: { max_observation_chars: 255 } }, "guardrail.max_observation_chars"],
    [{ guardrail: 7 }, "guardrail"],
    [{ inline_media: "always" }, "inline_media"],
    [{ inline_media: { types: [] } }, "inline_media.types"],
    [{ prefer: "both" }, "prefer"],
    [{ tool_fields: { t: [FIELD, { field_path: "a" }] } }, "tool_fields.t[1].content_type"],
    [{ tool_fields: { t: [{ ...FIELD, field_path: "a..b" }] } }, "tool_fields.t[0].field_path"],
    [{ binary_detection: { signatures: { JVBERi: "pdf" } } }, "binary_detection.signatures.JVBERi"],
  ])("a wrong value: %j", async (config, path) => {
    await expect(create(config)).rejects.toMatchObject({ code: "E_CONFIG_VALUE", path });
  });

  test.each([
    ["an array", []],
    ["a text", "x"],
    ["null", null],
  ])("a configuration that is %s", async (_, config) => {
    const creating = create(config);
    await expect(creating).rejects.toMatchObject({ code: "E_CONFIG_JSON" });
  });
});
