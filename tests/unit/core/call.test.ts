/** What is handed in wrongly is refused at once, with a code, the path and what is wanted instead. */
import { describe, expect, test } from "vitest";
import { createSluice, MemoryArtifactStore, type Sluice } from "../../../web/src/index.js";
import { PDF } from "./samples.js";

const store = new MemoryArtifactStore();
const sluice: Sluice = await createSluice({ store });
/** As untyped code hands things in. */
const anyhow = sluice as unknown as Record<string, (...args: unknown[]) => unknown>;
const refused = (path: string): object => ({ name: "SluiceError", code: "E_INVALID_ARGUMENT", path });

const WRONG: readonly (readonly [path: string, options: unknown])[] = [
  ["options", null],
  ["options", "mcp"],
  ["tool", { tool: 7 }],
  ["tool", { tool: null }],
  ["dialect", { dialect: "poem" }],
  ["dialect", { dialect: true }],
  ["clientShowsImages", { clientShowsImages: "yes" }],
  ["readResource", { readResource: "file:///x" }],
  ["signal", { signal: {} }],
  ["namespace", { namespace: "a/b" }],
  ["namespace", { namespace: "" }],
  ["namespace", { namespace: ["n"] }],
  ["scope", { scope: "me" }],
  ["scope", { scope: null }],
  ["scope.user_id", { scope: { user_id: 7 } }],
  ["scope.tenant_id", { scope: { tenant_id: "t".repeat(2_000) } }],
  ["scope.foo", { scope: { foo: 1 } }],
  ["scope.userId", { scope: { user_id: "u", userId: "u" } }],
];

describe.each(WRONG)("%s of %j", (path, options) => {
  test("is refused by transform, though nothing would be stored", async () => {
    await expect(anyhow["transform"]?.("small", options)).rejects.toMatchObject(refused(path));
  });

  test("is refused by open before the first byte", () => {
    expect(() => anyhow["open"]?.(options)).toThrow(expect.objectContaining(refused(path)));
  });
});

test("the sentence names the field and those that there are", async () => {
  const scope = { sessionId: "secret-session" } as object;
  const failure = sluice.transform({}, { scope });
  await expect(failure).rejects.toMatchObject({
    message: 'scope has no field "sessionId"; there are tenant_id, user_id, session_id and trace_id.',
  });
});

test("null fields of a scope, and options that are undefined, are none", async () => {
  const options = { tool: undefined, dialect: undefined, scope: { user_id: null }, signal: undefined };
  await expect(anyhow["transform"]?.("small", options)).resolves.toMatchObject({ value: "small" });
});

describe("a stream", () => {
  test.each([["text"], [null], [undefined], [7], [[0x7b, 0x7d]], [new ArrayBuffer(2)], [{ length: 2 }]])(
    "refuses %j as a chunk and goes on",
    async (chunk) => {
      const stream = sluice.open();
      await expect(stream.write(chunk as Uint8Array)).rejects.toMatchObject(refused("chunk"));
      await stream.write(new TextEncoder().encode("[1]"));
      expect((await stream.close()).value).toEqual([1]);
    },
  );

  test("takes bytes of another realm", async () => {
    const { runInNewContext } = await import("node:vm");
    const stream = sluice.open();
    await stream.write(runInNewContext("Uint8Array.of(0x5b, 0x31, 0x5d)") as Uint8Array);
    expect((await stream.close()).value).toEqual([1]);
  });
});

describe("what else is handed in", () => {
  test.each([
    ["restore without options", "restore", [{}, null], "options"],
    ["restore with an unknown scope field", "restore", [{}, { scope: { user: "u" } }], "scope.user"],
    ["restore with a scope that is none", "restore", [{}, { scope: 5 }], "scope"],
  ] as const)("%s", async (_, method, args, path) => {
    await expect(anyhow[method]?.(...args)).rejects.toMatchObject(refused(path));
  });

  test("restoreStream of a value", async () => {
    const stream = anyhow["restoreStream"]?.({ content: [] }) as AsyncIterator<Uint8Array>;
    await expect(stream.next()).rejects.toMatchObject(refused("json"));
  });

  test.each([
    ["text", ["%PDF-"], "head"],
    ["nothing", [], "head"],
    ["a size that is none", [new Uint8Array(4), "big"], "size"],
    ["a negative size", [new Uint8Array(4), -1], "size"],
  ] as const)("sniff of %s", (_, args, path) => {
    expect(() => anyhow["sniff"]?.(...args)).toThrow(expect.objectContaining(refused(path)));
    expect(sluice.sniff(PDF.subarray(0, 64)).mime_type).toBe("application/pdf");
  });
});

describe("createSluice", () => {
  const cycle: Record<string, unknown> = {};
  cycle["tool_fields"] = cycle;

  test.each([
    [
      "a way to fail that is none",
      { onStoreFailure: "ignore" },
      { code: "E_INVALID_ARGUMENT", path: "onStoreFailure" },
    ],
    ["a store that is none", { store: {} }, { code: "E_INVALID_ARGUMENT", path: "store" }],
    ["a store that is a number", { store: 7 }, { code: "E_INVALID_ARGUMENT", path: "store" }],
    ["a configuration with a cycle", { config: cycle }, { code: "E_CONFIG_JSON" }],
    ["a configuration that is text", { config: "max_inline_size" }, { code: "E_CONFIG_JSON" }],
    ["no options", null, { code: "E_INVALID_ARGUMENT", path: "options" }],
  ])("refuses %s", async (_, options, error) => {
    await expect(createSluice(options as never)).rejects.toMatchObject({ name: "SluiceError", ...error });
  });
});
