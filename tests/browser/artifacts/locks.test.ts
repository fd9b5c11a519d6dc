/** What is in use, with Web Locks and without. */
import { openDB } from "idb";
import { afterEach, describe, expect, test, vi } from "vitest";
import { BareIndexedDbStore } from "../../../web/src/artifacts/indexed-db/indexed-db-store.js";
import { LocalLocks } from "../../../web/src/artifacts/indexed-db/local-locks.js";
import { Locks } from "../../../web/src/artifacts/indexed-db/contents.js";
import { noise } from "../../unit/artifacts/noise.js";
import { contentsIn, freshName, inside } from "./database.js";

const HOUR = 3_600_000;
const MIB = 1024 * 1024;

afterEach(() => {
  vi.useRealTimers();
});

describe.each([
  ["over all tabs", () => new Locks(freshName())],
  ["in one page", () => new Locks(freshName(), new LocalLocks())],
])("locks %s", (_, opened) => {
  test("let many hold and nobody be alone meanwhile", async () => {
    const locks = opened();
    const leases = [await locks.hold("a"), await locks.hold("a")];
    expect(await locks.alone("a", async () => "alone")).toBeNull();
    expect(await locks.alone("b", async () => "alone")).toBe("alone");
    await leases[0]?.release();
    expect(await locks.alone("a", async () => "alone")).toBeNull();
    await leases[1]?.release();
    await leases[1]?.release();
    expect(await locks.alone("a", async () => "alone")).toBe("alone");
  });

  test("let who wants to hold wait for who is alone", async () => {
    const locks = opened();
    const order: string[] = [];
    let end: (() => void) | undefined;
    await new Promise<void>((begun) => {
      const work = (): Promise<void> =>
        new Promise((resolve) => {
          end = resolve;
          begun();
        });
      void locks.alone("a", work);
    });
    const holding = locks.hold("a").then((lease) => {
      order.push("held");
      return lease.release();
    });
    expect(await locks.alone("a", async () => "second")).toBeNull();
    order.push("ended");
    end?.();
    await holding;
    expect(order).toEqual(["ended", "held"]);
  });

  test("pass a failure on and let go", async () => {
    const locks = opened();
    await expect(locks.alone("a", () => Promise.reject(new Error("mine")))).rejects.toThrow("mine");
    expect(await locks.alone("a", async () => 1)).toBe(1);
  });
});

test("without Web Locks what nobody names is left alone for an hour", async () => {
  const name = freshName();
  const store = new BareIndexedDbStore({ name, locks: null });
  await store.open();
  const database = await openDB(name);
  await database.put("contents", { content: "left", touched: Date.now() });
  await database.put("chunks", noise(10), ["left", 0]);
  database.close();
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(Date.now() + HOUR - 10_000);
  const writer = await store.openWriter();
  await writer.write(noise(2 * MIB));
  await store.open();
  expect((await inside(name)).contents).toHaveLength(2);
  vi.setSystemTime(Date.now() + 20_000);
  await store.open();
  expect((await inside(name)).contents).toHaveLength(1);
  // It is being written here, however long that takes.
  vi.setSystemTime(Date.now() + 2 * HOUR);
  await store.open();
  await writer.close();
  expect(await contentsIn(name)).toBe(1);
  await store.close();
});
