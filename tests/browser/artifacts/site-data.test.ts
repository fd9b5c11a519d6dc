/** What the browser tells of the room of a site, and a person who clears it. */
import { cdp } from "vitest/browser";
import { expect, test } from "vitest";
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { noise } from "../../unit/artifacts/noise.js";
import { contentsIn, freshName } from "./database.js";

/** What the provider's session has beyond the common part. */
interface DevTools {
  send(method: string, params: object): Promise<unknown>;
}

const MIB = 1024 * 1024;

test("a store whose site was cleared is empty, and goes on", async () => {
  const name = freshName();
  await using store = new IndexedDbArtifactStore({ name });
  const ref = await store.putBytes(noise(3 * MIB));
  const writer = await store.openWriter();
  await writer.write(noise(3 * MIB, 2));
  await (cdp() as unknown as DevTools).send("Storage.clearDataForOrigin", {
    origin: location.origin,
    storageTypes: "indexeddb",
  });
  await expect(writer.close()).rejects.toMatchObject({ code: "E_STORE_WRITE" });
  expect(await store.get(ref.id)).toBeNull();
  expect(await store.putBytes(noise(3 * MIB))).toEqual(ref);
  expect(await contentsIn(name)).toBe(1);
});

test("bytes that a writer still holds count as used", async () => {
  await using store = new IndexedDbArtifactStore({ name: freshName() });
  const free = async (): Promise<number> => (await store.space?.())?.free_bytes ?? 0;
  const before = await free();
  expect(before).toBeGreaterThan(0);
  const writer = await store.openWriter();
  await writer.write(noise(900_000));
  expect(before - (await free())).toBeGreaterThan(800_000);
  await writer.abort();
  expect(before - (await free())).toBeLessThan(100_000);
});
