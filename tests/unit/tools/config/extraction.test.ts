/** What is wrong in `artifact_extraction` is named when the source is used. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { SluiceConfig } from "../../../../web/src/core/config.js";
import { ToolNode } from "../../../../web/src/tools-node.js";

const connected = async (artifact_extraction: object): Promise<void> => {
  const config = { name: "own", transport: "cli", connection: "node", artifact_extraction } as const;
  await using node = new ToolNode(config, { store: new MemoryArtifactStore() });
  await node.connect();
};

/** The sections, those that may be null left out. */
const SECTIONS: Readonly<Record<Exclude<keyof SluiceConfig, "default_summary_template">, RegExp>> = {
  max_inline_size: /must be an integer/,
  auto_artifact_large_content: /must be true or false/,
  binary_detection: /must be an object/,
  resources: /must be an object/,
  tool_fields: /must be an object/,
  guardrail: /must be an object/,
  inline_media: /must be "auto", "off" or an object/,
  prefer: /must be "structured" or "content"/,
  retention: /must be an object, such as/,
  door: /must be an object, such as/,
};

test.each(Object.entries(SECTIONS))("null in place of %s", async (key, sentence) => {
  await expect(connected({ [key]: null })).rejects.toMatchObject({
    code: "E_CONFIG_VALUE",
    path: key,
    message: expect.stringMatching(sentence) as string,
  });
});

test.each([
  ["resources.enabled", { resources: { enabled: null } }],
  ["retention.cleanup_strategy", { retention: { cleanup_strategy: null } }],
  ["guardrail.max_field_chars", { guardrail: { max_field_chars: null } }],
  ["tool_fields.export", { tool_fields: { export: null } }],
  ["door.on_store_failure", { door: { on_store_failure: null } }],
])("null at %s", async (path, config) => {
  await expect(connected(config)).rejects.toMatchObject({ code: "E_CONFIG_VALUE", path });
});

test("what has no value says nothing, and null where that means something is taken", async () => {
  await expect(connected({ retention: undefined, guardrail: undefined })).resolves.toBeUndefined();
  const nulls = { retention: { ttl_seconds: null }, default_summary_template: null };
  await expect(connected(nulls)).resolves.toBeUndefined();
});
