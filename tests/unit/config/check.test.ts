/** What is told of a configuration before there is a core, held against what the core tells. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkCoreConfig } from "../../../web/src/config/check.js";
import { createSluice, MemoryArtifactStore, SluiceError } from "../../../web/src/index.js";

interface Told {
  readonly code: string;
  readonly path: string | undefined;
}

function told(error: unknown): Told {
  if (!(error instanceof SluiceError)) throw error;
  return { code: error.code, path: error.path };
}

async function byCore(config: object): Promise<Told | null> {
  const made = createSluice({ store: new MemoryArtifactStore(), config });
  return made.then(() => null, told);
}

function byCheck(config: object): Told | null {
  try {
    checkCoreConfig(config);
    return null;
  } catch (error) {
    return told(error);
  }
}

const field = { field_path: "a.b", content_type: "pdf" };

test.each<[object]>([
  [{}],
  [{ max_inline_size: undefined }],
  [{ max_inline_size: 256, prefer: "content", inline_media: "off", default_summary_template: null }],
  [{ tool_fields: { t: [{ ...field, mime_type: "", summary_template: "😀".repeat(2000) }] } }],
  [{ inline_media: { types: ["image/*"], max_count: 20 } }],
  [{ binary_detection: { signatures: { AAAA: ["bin", "a/b"] } } }],
  [{ max_inline_size: -1 }],
  [{ max_inline_size: 1.5 }],
  [{ max_inline_size: null }],
  [{ max_inline_size: "5000" }],
  [{ guardrail: { max_field: 1 } }],
  [{ guardrail: 7 }],
  [{ guardrail: null }],
  [{ guardrail: { truncation_suffix: "x".repeat(201) } }],
  [{ tool_fields: { t: [{ field_path: "a" }] } }],
  [{ tool_fields: { t: [{ ...field, x: 1 }] } }],
  [{ tool_fields: { t: [{ ...field, field_path: "a..b" }] } }],
  [{ tool_fields: { t: [{ ...field, mime_type: "pdf" }] } }],
  [{ tool_fields: { "": [] } }],
  [{ tool_fields: { t: 7 } }],
  [{ tool_fields: { t: [7] } }],
  [{ tool_fields: [] }],
  [{ inline_media: "on" }],
  [{ inline_media: { types: ["x"] } }],
  [{ inline_media: { types: [] } }],
  [{ inline_media: { typ: [] } }],
  [{ inline_media: { max_count: 0 } }],
  [{ inline_media: 7 }],
  [{ prefer: "x" }],
  [{ binary_detection: { signatures: { a: ["x", "y/z"] } } }],
  [{ binary_detection: { signatures: { AAAA: ["x"] } } }],
  [{ binary_detection: { signatures: { AAAA: ["x", "y"] } } }],
  [{ default_summary_template: "x".repeat(2001) }],
  [{ resources: { enabled: 1 } }],
])("of %j it tells what the core tells", async (config) => {
  expect(byCheck(config)).toEqual(await byCore(config));
});

test("whatever stands in a section, it is taken where the core takes it, and refused where it refuses", async () => {
  const sections = fc.constantFrom(
    "max_inline_size",
    "resources",
    "guardrail",
    "inline_media",
    "prefer",
    "tool_fields",
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.record({ max_field_chars: fc.integer(), enabled: fc.boolean() }, { requiredKeys: [] }),
    fc.dictionary(fc.string(), fc.array(fc.record({ field_path: fc.string(), content_type: fc.string() }))),
  );
  await fc.assert(
    fc.asyncProperty(sections, value, async (name, given) => {
      const config = { [name]: given };
      const [check, core] = [byCheck(config), await byCore(config)];
      expect([config, check === null]).toEqual([config, core === null]);
    }),
    { numRuns: 150 },
  );
});
