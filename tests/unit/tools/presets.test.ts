/** Presets: each is a configuration that is taken, with fields that the core accepts and that do what they are for. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type SluiceConfig } from "../../../web/src/index.js";
import { readToolConfig, type ExternalToolConfig } from "../../../web/src/tools/config/config.js";
import { ToolConfigError } from "../../../web/src/tools/errors.js";
import {
  createBuiltInPresets,
  getPreset,
  presetNames,
  PresetRegistry,
  registerPreset,
} from "../../../web/src/tools/config/presets.js";
import { resolveVariables } from "../../../web/src/tools/config/resolved-config.js";
import { variableNames } from "../../../web/src/tools/config/variables.js";
import { PDF, PNG } from "../core/samples.js";
import { thrown } from "./thrown.js";

const NAMES = [
  "chrome-devtools",
  "filesystem",
  "github",
  "github-files",
  "google-drive",
  "playwright",
  "postgres",
  "slack",
  "sqlite",
  "tableau",
];

test("there are these", () => {
  expect(createBuiltInPresets().names()).toEqual(NAMES);
  expect(presetNames()).toEqual(expect.arrayContaining(NAMES));
});

describe.each(NAMES)("%s", (name) => {
  const preset = getPreset(name);

  test("is a configuration under its own name, with a description", () => {
    const config = readToolConfig(preset);
    expect(config.name).toBe(name);
    expect(config.description).not.toBe("");
  });

  test("can be connected once its variables have values, and holds no secret of its own", () => {
    const config = readToolConfig(preset);
    const { endpoint } = resolveVariables(config, (variable) => `value of ${variable}`);
    expect(endpoint?.kind).toBe(preset.connection.startsWith("https://") ? "http" : "stdio");
    for (const text of Object.values(config.auth_config)) expect(variableNames(text)).toHaveLength(1);
  });

  test("the core takes what it says of artifacts", async () => {
    const config = readToolConfig(preset).artifact_extraction;
    await expect(createSluice({ store: new MemoryArtifactStore(), config })).resolves.toBeDefined();
  });

  test("cannot be changed by whoever got it", () => {
    expect(Object.isFrozen(preset)).toBe(true);
    expect(Object.isFrozen(preset.artifact_extraction ?? preset)).toBe(true);
    expect(readToolConfig({ ...preset, name: "work" }).name).toBe("work");
  });
});

test("postgres: the password is no argument, and transactions are read-only", () => {
  const config = readToolConfig(getPreset("postgres"));
  const { endpoint, env } = resolveVariables(config, () => "postgres://ada:a-password@db/sales");
  expect(JSON.stringify(endpoint)).not.toContain("a-password");
  expect(env).toMatchObject({
    DSN: "postgres://ada:a-password@db/sales",
    PGOPTIONS: "-c default_transaction_read_only=on",
  });
});

/** Results as the servers send them, and what each preset makes of them. */
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const tiny = PDF.subarray(0, 90);
const image = { type: "image", data: base64(PNG.subarray(0, 90)), mimeType: "image/png" };
const file = {
  type: "resource",
  resource: { uri: "file:///a/r.bin", mimeType: "application/x-r", blob: base64(tiny) },
};
const inText = (value: unknown): object => ({ content: [{ type: "text", text: JSON.stringify(value, null, 2) }] });
const blob = { type: "Buffer", data: [...PDF.subarray(0, 700)] };
const few = { type: "Buffer", data: [1, 2, 3, 4, 5] };
const ofDrive = { id: "1", title: "Plan.pdf", mimeType: "application/pdf", content: base64(tiny) };

interface Answer {
  readonly preset: string;
  readonly tool: string;
  readonly result: object;
  readonly bytes: Uint8Array;
  readonly says: string;
}

const ANSWERS: readonly Answer[] = [
  {
    preset: "filesystem",
    tool: "read_media_file",
    result: { content: [image], structuredContent: { content: [image] } },
    bytes: PNG.subarray(0, 90),
    says: "PNG image",
  },
  {
    preset: "filesystem",
    tool: "read_media_file",
    result: { content: [file], structuredContent: { content: [file] } },
    bytes: tiny,
    says: "PDF",
  },
  {
    preset: "google-drive",
    tool: "download_file_content",
    result: { ...inText(ofDrive), structuredContent: ofDrive },
    bytes: tiny,
    says: "'Plan.pdf' from Drive, PDF",
  },
  {
    preset: "tableau",
    tool: "download_workbook",
    result: inText({ content: base64(tiny), name: "Sales Dashboard", format: "pdf" }),
    bytes: tiny,
    says: "Workbook 'Sales Dashboard', PDF",
  },
  {
    preset: "tableau",
    tool: "get_view_as_pdf",
    result: inText({ pdf_data: base64(tiny), view_name: "Revenue by Region" }),
    bytes: tiny,
    says: "View 'Revenue by Region', PDF",
  },
  {
    preset: "tableau",
    tool: "get-view-image",
    result: { content: [image] },
    bytes: PNG.subarray(0, 90),
    says: "View, PNG image",
  },
  {
    preset: "github-files",
    tool: "get_file_contents",
    result: {
      content: [
        { type: "text", text: "successfully downloaded text file (SHA: 1a2b)" },
        {
          type: "resource",
          resource: { uri: "repo://o/r/contents/a.md", mimeType: "text/plain", text: "# A short file" },
        },
      ],
    },
    bytes: Buffer.from("# A short file"),
    says: "repo://o/r/contents/a.md",
  },
  {
    preset: "playwright",
    tool: "browser_take_screenshot",
    result: { content: [{ type: "text", text: "### Result" }, image] },
    bytes: PNG.subarray(0, 90),
    says: "Screenshot, PNG image",
  },
  {
    preset: "chrome-devtools",
    tool: "take_screenshot",
    result: { content: [{ type: "text", text: "Took a screenshot." }, image] },
    bytes: PNG.subarray(0, 90),
    says: "Screenshot, PNG image",
  },
  {
    preset: "sqlite",
    tool: "read_query",
    result: inText([{ a: 1, b: blob }]),
    bytes: PDF.subarray(0, 700),
    says: "BLOB, PDF",
  },
  {
    preset: "postgres",
    tool: "execute_sql",
    result: inText({
      success: true,
      data: { statements: [{ sql: "SELECT", rows: [{ a: 1, b: blob }], count: 1 }], source_id: "default" },
    }),
    bytes: PDF.subarray(0, 700),
    says: "bytea, PDF",
  },
  {
    preset: "postgres",
    tool: "execute_sql",
    result: inText({ success: true, data: { rows: [{ a: 1, b: few }], count: 1, source_id: "default" } }),
    bytes: Buffer.from(few.data),
    says: '"bytea, binary data, 5 B."',
  },
];

test.each(ANSWERS)("$preset: $tool keeps its bytes out, and says what they are", async (answer) => {
  const store = new MemoryArtifactStore();
  const config = readToolConfig(getPreset(answer.preset)).artifact_extraction;
  const sluice = await createSluice({ store, config });
  const options = { tool: answer.tool, namespace: answer.preset };
  const { text, artifacts } = await sluice.transform(answer.result, options);
  expect(text).not.toContain(base64(answer.bytes).slice(0, 60));
  expect(text).toContain(answer.says);
  const wanted = createHash("sha256").update(answer.bytes).digest("hex");
  expect(new Set(artifacts.map(({ sha256 }) => sha256))).toEqual(new Set([wanted]));
});

describe("a registry", () => {
  const OWN = { name: "own", transport: "mcp", connection: "server" } as const;

  test("keeps what was registered, apart from other registries", () => {
    const registry = new PresetRegistry();
    registry.register("mine", OWN);
    expect(registry.get("mine")).toEqual(OWN);
    expect(registry.names()).toEqual(["mine"]);
    expect(createBuiltInPresets().names()).not.toContain("mine");
  });

  test("what is registered later changes nothing of what was given", () => {
    const env = { A: "1" };
    const registry = new PresetRegistry();
    registry.register("mine", { ...OWN, env });
    env.A = "2";
    expect(registry.get("mine").env).toEqual({ A: "1" });
  });

  test("refuses a name that is taken or none, and a wrong configuration", () => {
    const registry = createBuiltInPresets();
    for (const [name, config] of [
      ["github", OWN],
      ["a b", OWN],
      ["", OWN],
      ["mine", { ...OWN, connection: "" }],
    ] as const) {
      expect(thrown(() => registry.register(name, config))).toBeInstanceOf(ToolConfigError);
    }
    expect(registry.names()).toEqual(NAMES);
  });

  test.each([
    [{ max_inline_sizee: 1 }, "max_inline_sizee"],
    [{ max_inline_size: -1 }, "max_inline_size"],
    [{ guardrail: { max_field: 1 } }, "guardrail.max_field"],
    [
      { tool_fields: { download: [{ field_path: "a..b", content_type: "pdf" }] } },
      "tool_fields.download[0].field_path",
    ],
    [{ retention: { ttl: 60 } }, "retention.ttl"],
    [{ interceptor: { share: 1 } }, "interceptor.share"],
  ])("refuses %j below artifact_extraction with its path", (extraction, path) => {
    const config = { ...OWN, artifact_extraction: extraction as SluiceConfig };
    const registry = new PresetRegistry();
    const at = `artifact_extraction.${path}`;
    expect(thrown(() => registry.register("mine", config))).toMatchObject({ code: "E_TOOL_CONFIG", path: at });
    expect(registry.names()).toEqual([]);
    const given = thrown(() => new PresetRegistry([OWN, config]));
    expect(given).toMatchObject({ name: "ToolConfigError", code: "E_TOOL_CONFIG", path: `[1].${at}` });
  });

  test.each([[undefined], [7], [null], ["a.b"]])("refuses the name %j", (name) => {
    expect(thrown(() => new PresetRegistry().register(name as string, OWN))).toBeInstanceOf(ToolConfigError);
  });

  test.each([
    [[null], "[0]"],
    [[OWN, {}], "[1].name"],
    [[{ ...OWN, timeout_s: 0 }], "[0].timeout_s"],
    [[OWN, OWN], ""],
  ])("starts with no presets that are wrong: %j", (presets, path) => {
    const made = (): PresetRegistry => new PresetRegistry(presets as ExternalToolConfig[]);
    expect(thrown(made)).toMatchObject({ code: "E_TOOL_CONFIG", path });
  });

  test("tells what there is, and what was probably meant", () => {
    expect((thrown(() => getPreset("gihub")) as Error).message).toContain("did you mean github?");
    expect((thrown(() => getPreset("google_drive")) as Error).message).toContain("did you mean google-drive?");
    for (const name of ["nothing like it", "__proto__", "constructor", "\u001b[31m"]) {
      const message = (thrown(() => getPreset(name)) as Error).message;
      for (const known of NAMES) expect(message).toContain(known);
      expect(message).not.toContain("\u001b");
    }
  });

  test("the program's own is one for all", () => {
    registerPreset("registered-by-a-test", OWN);
    expect(getPreset("registered-by-a-test")).toEqual(OWN);
    expect(presetNames()).toContain("registered-by-a-test");
  });
});
