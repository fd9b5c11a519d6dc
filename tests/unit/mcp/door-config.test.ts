/** The section `door`: what it may say, and that it means nothing where there is no door. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { openSluice } from "../../../web/src/cli/transform.js";
import { createSluice, SluiceError, type SluiceConfig } from "../../../web/src/index.js";
import { readDoor, withoutDoor } from "../../../web/src/mcp/door-config.js";
import { openDoor } from "../../../web/src/mcp/open-door.js";

const FORMS = { upload: { file: "base64", "parts.*.data": "data_uri", note: "text", copy: "path" } } as const;

/** A configuration that the type would not let through. */
const odd = (door: unknown): SluiceConfig => ({ door }) as SluiceConfig;

const many = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));

const thrown = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

test.each([undefined, {}, { prefer: "content" } as const, { door: {} }])("%j has the defaults", (config) => {
  expect(readDoor(config)).toEqual({ on_store_failure: "answer", arguments: {}, share: [] });
});

test("what is given takes the place of a default", () => {
  const share = [{ from: "playwright", to: "drive.upload" }];
  for (const given of [{ on_store_failure: "error" as const }, { arguments: FORMS }, { share }]) {
    expect(readDoor({ door: given })).toEqual({ on_store_failure: "answer", arguments: {}, share: [], ...given });
  }
});

test("the rest is everything else, and the configuration stays as it is", () => {
  const config: SluiceConfig = { prefer: "content", door: { arguments: FORMS } };
  expect(withoutDoor(config)).toEqual({ prefer: "content" });
  expect(config.door?.arguments).toBe(FORMS);
  expect(withoutDoor(undefined)).toBeUndefined();
});

const WRONG: readonly (readonly [door: unknown, code: string, path: string])[] = [
  [null, "E_CONFIG_VALUE", "door"],
  [[], "E_CONFIG_VALUE", "door"],
  ["error", "E_CONFIG_VALUE", "door"],
  [{ on_store_failures: "error" }, "E_CONFIG_KEY", "door.on_store_failures"],
  [JSON.parse('{"__proto__":{}}'), "E_CONFIG_KEY", "door.__proto__"],
  [{ constructor: 1 }, "E_CONFIG_KEY", "door.constructor"],
  [{ on_store_failure: "throw" }, "E_CONFIG_VALUE", "door.on_store_failure"],
  [{ on_store_failure: null }, "E_CONFIG_VALUE", "door.on_store_failure"],
  [{ arguments: null }, "E_CONFIG_VALUE", "door.arguments"],
  [{ arguments: [] }, "E_CONFIG_VALUE", "door.arguments"],
  [{ arguments: { "": {} } }, "E_CONFIG_VALUE", "door.arguments"],
  [{ arguments: { upload: "base64" } }, "E_CONFIG_VALUE", "door.arguments.upload"],
  [{ arguments: { upload: { file: "hex" } } }, "E_CONFIG_VALUE", "door.arguments.upload.file"],
  [{ arguments: { upload: { file: ["base64"] } } }, "E_CONFIG_VALUE", "door.arguments.upload.file"],
  [{ arguments: { upload: { ".file": "base64" } } }, "E_CONFIG_VALUE", "door.arguments.upload"],
  [{ arguments: { upload: { "": "base64" } } }, "E_CONFIG_VALUE", "door.arguments.upload"],
  [{ share: null }, "E_CONFIG_VALUE", "door.share"],
  [{ share: { from: "a", to: "b.c" } }, "E_CONFIG_VALUE", "door.share"],
  [{ share: Array.from({ length: 101 }, () => ({ from: "a", to: "b.c" })) }, "E_CONFIG_VALUE", "door.share"],
  [{ share: ["a"] }, "E_CONFIG_VALUE", "door.share.0"],
  [{ share: [{ from: "a", to: "b.c", via: "d" }] }, "E_CONFIG_KEY", "door.share.0.via"],
  [{ share: [{ to: "b.c" }] }, "E_CONFIG_VALUE", "door.share.0.from"],
  [{ share: [{ from: "*", to: "b.c" }] }, "E_CONFIG_VALUE", "door.share.0.from"],
  [{ share: [{ from: "a", to: "b" }] }, "E_CONFIG_VALUE", "door.share.0.to"],
  [{ share: [{ from: "a", to: "*.c" }] }, "E_CONFIG_VALUE", "door.share.0.to"],
];

describe.each(WRONG)("%j", (door, code, path) => {
  test("is refused with its path, by whoever reads a configuration", async () => {
    const config = odd(door);
    const refusal = { code, path };
    expect(thrown(() => readDoor(config))).toMatchObject(refusal);
    expect(thrown(() => withoutDoor(config))).toMatchObject(refusal);
    await expect(createSluice({ config })).rejects.toMatchObject(refusal);
    await expect(openDoor({ config })).rejects.toMatchObject(refusal);
  });
});

test("the numbers of tools and of places are bounded, and what is told of a name as well", () => {
  const door = (tools: object): unknown => thrown(() => readDoor(odd({ arguments: tools })));
  expect(door(many(1_000, {}))).not.toBeInstanceOf(Error);
  expect(door(many(1_001, {}))).toMatchObject({ code: "E_CONFIG_VALUE", path: "door.arguments" });
  expect(door({ t: many(100, "text") })).not.toBeInstanceOf(Error);
  expect(door({ t: many(101, "text") })).toMatchObject({ code: "E_CONFIG_VALUE", path: "door.arguments.t" });
  const long = thrown(() => readDoor(odd({ ["x".repeat(1_000_000)]: 1 })));
  expect((long as Error).message.length).toBeLessThan(300);
});

test("any other value is refused with a place, never otherwise", () => {
  expect.hasAssertions();
  const property = fc.property(fc.anything(), fc.constantFrom("arguments", "share"), (value, key) => {
    const error = thrown(() => readDoor(odd({ on_store_failure: "answer", [key]: value })));
    expect(error instanceof SluiceError || !(error instanceof Error)).toBe(true);
  });
  fc.assert(property, { numRuns: 500 });
});

describe("without a door", () => {
  const config: SluiceConfig = { door: { on_store_failure: "error", arguments: FORMS } };
  const input = { log: "many words ".repeat(2_000) };

  test("a Sluice takes the section and does as without it", async () => {
    const store = { retention: { max_artifact_bytes: 10 } };
    const plain = await (await createSluice({ store: new MemoryArtifactStore(store) })).transform(input);
    const sluice = await createSluice({ store: new MemoryArtifactStore(store), config });
    const { text, failures } = await sluice.transform(input);
    expect(failures).toMatchObject([{ code: "E_TOO_LARGE" }]);
    expect(text.replace(/truncated_\w+/g, "")).toBe(plain.text.replace(/truncated_\w+/g, ""));
  });

  test("so does a command with a file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-door-"));
    try {
      const file = join(folder, "config.json");
      await writeFile(file, JSON.stringify(config));
      const sluice = await openSluice(new MemoryArtifactStore(), file);
      expect((await sluice.transform(input)).artifacts).toHaveLength(1);
      await writeFile(file, '{"door":{"arguments":{"upload":{"file":"hex"}}}}');
      const refusal = { code: "E_CONFIG_VALUE", path: "door.arguments.upload.file" };
      await expect(openSluice(new MemoryArtifactStore(), file)).rejects.toMatchObject(refusal);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
