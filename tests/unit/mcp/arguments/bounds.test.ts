import { describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { MAX_REFERENCES } from "../../../../web/src/mcp/arguments/arguments.js";
import { of, refusalOf, setUp, valueOf } from "./call.js";

describe("bounds", () => {
  const MIB = 1024 * 1024;

  test("what would be too much is refused before it is read", async () => {
    const { call, uri, store } = await setUp({ bytes: new Uint8Array(7 * MIB) });
    const openReader = vi.spyOn(store, "openReader");
    expect(refusalOf(await call({ p: `${uri}?as=base64` }))).toContain("more than 8 MiB");
    expect(refusalOf(await call({ p: `${uri}?as=base64` }))).toContain("do not retry");
    expect(openReader).not.toHaveBeenCalled();
    expect(valueOf(await call({ p: `${uri}?as=text` }, {}, { maxBytes: 64 * MIB }))).toEqual({
      p: "\0".repeat(7 * MIB),
    });
  });

  test("all of one call count together, and what was there before", async () => {
    const { call, uri } = await setUp({ bytes: new Uint8Array(3 * MIB) });
    const p = `${uri}?as=base64`;
    expect(valueOf(await call({ p }))).toHaveProperty("p");
    expect(refusalOf(await call({ p: [p, p] }))).toContain('in "p.1"');
    expect(refusalOf(await call({ rest: "x".repeat(5 * MIB), p }))).toContain("8 MiB");
  });

  test("escapes count", async () => {
    const { call, uri } = await setUp({ bytes: new Uint8Array(2 * MIB) });
    expect(refusalOf(await call({ p: `${uri}?as=text` }))).toContain("8 MiB");
  });

  test("so many references and no more", async () => {
    const { call, uri } = await setUp();
    const list = (length: number): string[] => Array.from({ length }, () => `${uri}?as=base64`);
    expect(valueOf(await call(list(MAX_REFERENCES)))).toHaveLength(MAX_REFERENCES);
    expect(refusalOf(await call(list(MAX_REFERENCES + 1)))).toContain("fewer");
  });

  test("arguments too deep or too many to be read are refused if they name artifacts", async () => {
    const { call, uri } = await setUp();
    expect(refusalOf(await call(deep(uri)))).toContain("nests");
    expect(await call(deep("\\u0061"))).toEqual({ kind: "unchanged" });
  });

  test("definitions round in a circle, and names of objects, are no trap", async () => {
    const { call, uri } = await setUp();
    const circle = { $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };
    for (const inputSchema of [circle, { $ref: "#" }, { $ref: "#/__proto__" }, { properties: null }, "x", null, [1]]) {
      expect(refusalOf(await call({ constructor: { ["__proto__"]: uri }, p: uri }, { inputSchema }))).toContain("?as=");
    }
  });
});

describe("a store that has it no more", () => {
  test("is told honestly, also that it makes no sense to try again", async () => {
    let now = 0;
    const store = new MemoryArtifactStore({ retention: { ttl_seconds: 1 }, clock: () => now });
    const { call, uri } = await setUp({ store });
    now = 10_000;
    const told = refusalOf(await call({ p: uri }, of({ format: "byte" })));
    expect(told).toContain("no longer kept; do not retry with it, call the tool again that gave it");
  });

  test("a store that fails is told without its own words", async () => {
    const { call, uri, store } = await setUp();
    vi.spyOn(store, "openReader").mockRejectedValue(new Error("EIO /home/ada/secret"));
    const told = refusalOf(await call({ p: uri }, of({ format: "byte" })));
    expect(told).toContain("could not read it");
    expect(told).not.toContain("ada");
  });

  test("a store that gives fewer bytes than it says is not believed", async () => {
    const { call, uri, store } = await setUp();
    vi.spyOn(store, "openReader").mockImplementation(async () => Promise.resolve(new Blob(["x"]).stream()));
    expect(refusalOf(await call({ p: uri }, of({ format: "byte" })))).toContain("could not read it");
  });

  test("giving up is no refusal", async () => {
    const { call, uri } = await setUp();
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(call({ p: `${uri}?as=base64` }, {}, { signal })).rejects.toThrow("stop");
  });
});

function deep(text: string): string {
  return `${"[".repeat(1000)}"${text}"${"]".repeat(1000)}`;
}
