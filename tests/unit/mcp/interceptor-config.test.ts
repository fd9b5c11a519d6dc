/** The section `interceptor`: what it may say, and that it means nothing where there is no interceptor. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { openSluice } from "../../../web/src/cli/transform.js";
import { createSluice, SluiceError, type SluiceConfig } from "../../../web/src/index.js";
import { readInterceptor, withoutInterceptor } from "../../../web/src/mcp/interceptor-config.js";
import { createInterceptor } from "../../../web/src/mcp/interceptor-options.js";
import { emptyFolder } from "../../support/folder.js";

const FORMS = { upload: { file: "base64", "parts.*.data": "data_uri", note: "text", copy: "path" } } as const;

/** A configuration that the type would not let through. */
const odd = (interceptor: unknown): SluiceConfig => ({ interceptor }) as SluiceConfig;

const many = (count: number, value: unknown): object =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));

const thrown = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

test.each([undefined, {}, { prefer: "content" } as const, { interceptor: {} }])("%j has the defaults", (config) => {
  expect(readInterceptor(config)).toEqual({ on_store_failure: "answer", arguments: {}, share: [] });
});

test("what is given takes the place of a default", () => {
  const share = [{ from: "playwright", to: "drive.upload" }];
  for (const given of [{ on_store_failure: "error" as const }, { arguments: FORMS }, { share }]) {
    expect(readInterceptor({ interceptor: given })).toEqual({
      on_store_failure: "answer",
      arguments: {},
      share: [],
      ...given,
    });
  }
});

test("the rest is everything else, and the configuration stays as it is", () => {
  const config: SluiceConfig = { prefer: "content", interceptor: { arguments: FORMS } };
  expect(withoutInterceptor(config)).toEqual({ prefer: "content" });
  expect(config.interceptor?.arguments).toBe(FORMS);
  expect(withoutInterceptor(undefined)).toBeUndefined();
});

const WRONG: readonly (readonly [interceptor: unknown, code: string, path: string])[] = [
  [null, "E_CONFIG_VALUE", "interceptor"],
  [[], "E_CONFIG_VALUE", "interceptor"],
  ["error", "E_CONFIG_VALUE", "interceptor"],
  [{ on_store_failures: "error" }, "E_CONFIG_KEY", "interceptor.on_store_failures"],
  [JSON.parse('{"__proto__":{}}'), "E_CONFIG_KEY", "interceptor.__proto__"],
  [{ constructor: 1 }, "E_CONFIG_KEY", "interceptor.constructor"],
  [{ on_store_failure: "throw" }, "E_CONFIG_VALUE", "interceptor.on_store_failure"],
  [{ on_store_failure: null }, "E_CONFIG_VALUE", "interceptor.on_store_failure"],
  [{ arguments: null }, "E_CONFIG_VALUE", "interceptor.arguments"],
  [{ arguments: [] }, "E_CONFIG_VALUE", "interceptor.arguments"],
  [{ arguments: { "": {} } }, "E_CONFIG_VALUE", "interceptor.arguments"],
  [{ arguments: { upload: "base64" } }, "E_CONFIG_VALUE", "interceptor.arguments.upload"],
  [{ arguments: { upload: { file: "hex" } } }, "E_CONFIG_VALUE", "interceptor.arguments.upload.file"],
  [{ arguments: { upload: { file: ["base64"] } } }, "E_CONFIG_VALUE", "interceptor.arguments.upload.file"],
  [{ arguments: { upload: { ".file": "base64" } } }, "E_CONFIG_VALUE", "interceptor.arguments.upload"],
  [{ arguments: { upload: { "": "base64" } } }, "E_CONFIG_VALUE", "interceptor.arguments.upload"],
  [{ share: null }, "E_CONFIG_VALUE", "interceptor.share"],
  [{ share: { from: "a", to: "b.c" } }, "E_CONFIG_VALUE", "interceptor.share"],
  [{ share: Array.from({ length: 101 }, () => ({ from: "a", to: "b.c" })) }, "E_CONFIG_VALUE", "interceptor.share"],
  [{ share: ["a"] }, "E_CONFIG_VALUE", "interceptor.share[0]"],
  [{ share: [{ from: "a", to: "b.c", via: "d" }] }, "E_CONFIG_KEY", "interceptor.share[0].via"],
  [{ share: [{ to: "b.c" }] }, "E_CONFIG_VALUE", "interceptor.share[0].from"],
  [{ share: [{ from: "*", to: "b.c" }] }, "E_CONFIG_VALUE", "interceptor.share[0].from"],
  [{ share: [{ from: "a", to: "b" }] }, "E_CONFIG_VALUE", "interceptor.share[0].to"],
  [{ share: [{ from: "a", to: "*.c" }] }, "E_CONFIG_VALUE", "interceptor.share[0].to"],
];

describe.each(WRONG)("%j", (interceptor, code, path) => {
  test("is refused with its path, by whoever reads a configuration", async () => {
    const config = odd(interceptor);
    const refusal = { code, path };
    expect(thrown(() => readInterceptor(config))).toMatchObject(refusal);
    expect(thrown(() => withoutInterceptor(config))).toMatchObject(refusal);
    await expect(createSluice({ config })).rejects.toMatchObject(refusal);
    await expect(createInterceptor({ config })).rejects.toMatchObject(refusal);
  });
});

test("what is not formed as it must be is told with an example, not with a pattern", () => {
  const message = (interceptor: object): string => String(thrown(() => readInterceptor(odd(interceptor))));
  expect(message({ share: [{ from: "*", to: "b.c" }] })).toMatch(/from must be a string such as "playwright"\.$/);
  expect(message({ share: [{ from: "a", to: "b" }] })).toMatch(/to must be a string .* such as "drive\.upload"\.$/);
  expect(message({ arguments: { t: { "a..b": "text" } } })).toMatch(/such as "files\.0\.data"\.$/);
});

test("the numbers of tools and of places are bounded, and what is told of a name as well", () => {
  const interceptor = (tools: object): unknown => thrown(() => readInterceptor(odd({ arguments: tools })));
  expect(interceptor(many(1_000, {}))).not.toBeInstanceOf(Error);
  expect(interceptor(many(1_001, {}))).toMatchObject({ code: "E_CONFIG_VALUE", path: "interceptor.arguments" });
  expect(interceptor({ t: many(100, "text") })).not.toBeInstanceOf(Error);
  expect(interceptor({ t: many(101, "text") })).toMatchObject({
    code: "E_CONFIG_VALUE",
    path: "interceptor.arguments.t",
  });
  const long = thrown(() => readInterceptor(odd({ ["x".repeat(1_000_000)]: 1 })));
  expect((long as Error).message.length).toBeLessThan(300);
});

test("any other value is refused with a place, never otherwise", () => {
  expect.hasAssertions();
  const property = fc.property(fc.anything(), fc.constantFrom("arguments", "share"), (value, key) => {
    const error = thrown(() => readInterceptor(odd({ on_store_failure: "answer", [key]: value })));
    expect(error instanceof SluiceError || !(error instanceof Error)).toBe(true);
  });
  fc.assert(property, { numRuns: 500 });
});

describe("without an interceptor", () => {
  const config: SluiceConfig = { interceptor: { on_store_failure: "error", arguments: FORMS } };
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
    const folder = await emptyFolder();
    const file = join(folder, "config.json");
    await writeFile(file, JSON.stringify(config));
    const sluice = await openSluice(new MemoryArtifactStore(), file);
    expect((await sluice.transform(input)).artifacts).toHaveLength(1);
    await writeFile(file, '{"interceptor":{"arguments":{"upload":{"file":"hex"}}}}');
    const refusal = { code: "E_CONFIG_VALUE", path: "interceptor.arguments.upload.file" };
    await expect(openSluice(new MemoryArtifactStore(), file)).rejects.toMatchObject(refusal);
  });
});
