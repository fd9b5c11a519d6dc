/** Contract: what callers without types hand in. */
import { describe, expect, test } from "vitest";
import type { ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { listed } from "../bytes.js";
import type { Subject } from "../store-contract.js";

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
