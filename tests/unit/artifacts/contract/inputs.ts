/** Contract: names, words and values that mean harm, or have a wrong type. */
import { describe, expect, test } from "vitest";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { listed, undated } from "../bytes.js";
import type { Subject } from "../store-contract.js";

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

export function contractOfHostile(subject: () => Subject): void {
  const store = (): ArtifactStore => subject().store;

  describe("hostile input", () => {
    test.each(["", "a/b", "..\\x", "a b", "ü", "a\0", "x".repeat(65), "a\n"])(
      "namespace %j is refused",
      async (namespace) => {
        for (const put of [store().putText("x", { namespace }), store().openWriter({ namespace })]) {
          await expect(put).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "namespace" });
        }
      },
    );

    test.each(["..", ".", "-rf", "CON", "a.b-c_d", "x".repeat(64), "artifact"])(
      "namespace %j is a name like any",
      async (namespace) => {
        const ref = await store().putText("x", { namespace });
        expect(await store().get(ref.id)).toEqual(text("x"));
        expect(await listed(store().list())).toEqual([ref]);
      },
    );

    test("strange ids name nothing", async () => {
      const { id } = await store().putText("x");
      const strange = [
        "",
        ".",
        "..",
        "../..",
        "../../../etc/passwd",
        `${id}/../${id}`,
        `${id}/blob`,
        `./${id}`,
        `${id}\0`,
        id.toUpperCase(),
        `${id}\n`,
        "x".repeat(10_000),
        "__proto__",
        "constructor",
      ];
      for (const name of strange) {
        expect(await store().get(name)).toBeNull();
        expect(await store().stat(name)).toBeNull();
        expect(await store().exists(name)).toBe(false);
        expect(await store().update(name, { filename: "x" })).toBeNull();
        expect(await store().openReader(name)).toBeNull();
        expect(await store().delete(name)).toBe(false);
      }
      expect(await listed(store().list())).toHaveLength(1);
    });

    test("file names, types, sources and scopes are kept as they came", async () => {
      const strange = [
        "../../etc/passwd",
        "/abs",
        "C:\\con",
        "a\0b\n\u202e\u{e0041}",
        "\ud800",
        "x".repeat(5000),
        "",
        "__proto__",
      ];
      for (const value of strange) {
        const scope: ArtifactScope = { tenant_id: value.slice(0, 1000), user_id: '","' };
        const source = JSON.parse(`{"__proto__":{"a":1},"v":${JSON.stringify(value)}}`) as Record<string, unknown>;
        const ref = await store().putText("x", { filename: value, mime_type: value, source, scope });
        expect(ref).toMatchObject({ filename: value, mime_type: value });
        expect(JSON.stringify(ref.source)).toBe(JSON.stringify(source));
        expect(undated(await store().stat(ref.id, scope))).toEqual(ref);
        expect(await store().get(ref.id, scope)).toEqual(text("x"));
      }
      expect(await listed(store().list())).toHaveLength(strange.length);
    });

    test("scopes and sources of a wrong type are refused with their path", async () => {
      const wrong: [string, object][] = [
        ["scope.user_id", { scope: { user_id: 7 } }],
        ["scope.trace_id", { scope: { trace_id: "x".repeat(2000) } }],
        ["source", { source: [] }],
        ["source", { source: { big: 1n } }],
        ["source", { source: { long: "x".repeat(2_000_000) } }],
        ["filename", { filename: 1 }],
        ["mime_type", { mime_type: {} }],
      ];
      for (const [path, info] of wrong) {
        await expect(store().putText("x", info)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path });
      }
      expect(await listed(store().list())).toEqual([]);
    });
  });
}

// Contract: what callers without types hand in.

const NO_BYTES: readonly unknown[] = [
  "hello",
  5,
  null,
  undefined,
  [1, 2],
  {},
  { byteLength: 3 },
  new ArrayBuffer(4),
  new DataView(new ArrayBuffer(4)),
  new Uint16Array([1, 2]),
];

const refused = (path: string): unknown => expect.objectContaining({ code: "E_INVALID_ARGUMENT", path }) as unknown;

export function contractOfMistyped(subject: () => Subject): void {
  const store = (): ArtifactStore => subject().store;

  describe("values of a wrong type", () => {
    test("in place of bytes are refused, never stored as something else", async () => {
      for (const value of NO_BYTES) {
        await expect(store().putBytes(value as Uint8Array)).rejects.toEqual(refused("data"));
      }
      expect(await listed(store().list())).toEqual([]);
    });

    test("in place of a chunk end the writer, so that nothing is published with a piece missing", async () => {
      for (const value of NO_BYTES) {
        const writer = await store().openWriter();
        await writer.write(new Uint8Array(3));
        await expect(writer.write(value as Uint8Array)).rejects.toEqual(refused("chunk"));
        await expect(writer.close()).rejects.toEqual(refused("chunk"));
      }
      expect(await listed(store().list())).toEqual([]);
      expect(await subject().contents()).toBe(0);
    });

    test("in place of a text are refused, not written out", async () => {
      for (const value of [5, null, undefined, {}, new Uint8Array(2)]) {
        await expect(store().putText(value as string)).rejects.toEqual(refused("text"));
      }
    });

    test("in place of what is said are refused with their path", async () => {
      const { id } = await store().putText("x");
      for (const value of [null, 5, "x"] as unknown as {}[]) {
        await expect(store().putBytes(new Uint8Array(1), value)).rejects.toEqual(refused("info"));
        await expect(store().putText("x", value)).rejects.toEqual(refused("info"));
        await expect(store().openWriter(value)).rejects.toEqual(refused("info"));
        await expect(store().update(id, value)).rejects.toEqual(refused("patch"));
        await expect((await store().openWriter()).close(value)).rejects.toEqual(refused("patch"));
        await expect(store().openReader(id, value)).rejects.toEqual(refused("options"));
        await expect(store().evict(value as never)).rejects.toEqual(refused("seen"));
      }
      expect(await listed(store().list())).toHaveLength(1);
    });

    test("in place of an id name nothing", async () => {
      for (const value of [5, null, undefined, {}] as unknown as string[]) {
        expect(await store().get(value)).toBeNull();
        expect(await store().stat(value)).toBeNull();
        expect(await store().exists(value)).toBe(false);
        expect(await store().update(value, {})).toBeNull();
        expect(await store().openReader(value)).toBeNull();
        expect(await store().delete(value)).toBe(false);
      }
    });

    test("a type that is undefined is one left out", async () => {
      const info = { mime_type: undefined } as unknown as { mime_type: string };
      expect(await store().putText("x", info)).toMatchObject({ mime_type: "text/plain" });
    });
  });
}
