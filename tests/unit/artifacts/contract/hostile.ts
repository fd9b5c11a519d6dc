/** Contract: names and words that mean harm. */
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
