/** A share of the disk stays free, whoever writes. */
import { describe, expect, test } from "vitest";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import { Disk, FULL, idsIn, TENTH, textOf } from "./disk.js";

describe("a store that may not use the last tenth", () => {
  test("takes what fits to the byte, and has the oldest leave for more", async () => {
    const disk = new Disk(1_000);
    const store = new RetainingArtifactStore(disk, TENTH);
    const ids = [];
    for (const letter of ["a", "b", "c"]) ids.push((await store.putText(textOf(letter, 300))).id);
    expect(disk.free).toBe(100);
    const last = await store.putText("x");
    expect(await idsIn(store)).toEqual([ids[1], ids[2], last.id]);
    await expect(store.get(ids[0] ?? "")).rejects.toMatchObject({ code: "E_EXPIRED" });
    expect(disk.least).toBeGreaterThanOrEqual(100);
  });

  test("refuses what would never fit before a byte of it is written, and nobody leaves for it", async () => {
    const disk = new Disk(1_000);
    const store = new RetainingArtifactStore(disk, TENTH);
    await store.putText(textOf("a", 500));
    await expect(store.putText(textOf("b", 901))).rejects.toMatchObject(FULL);
    expect(await idsIn(store)).toHaveLength(1);
    expect(disk.least).toBe(500);
  });

  test("says how much stays free, and what to do", async () => {
    const store = new RetainingArtifactStore(new Disk(10), { ...TENTH, min_free_disk: 0.07 });
    await expect(store.putText("more than ten bytes")).rejects.toThrow(
      "There is no room left beside the 7 % of the disk that retention.min_free_disk leaves free: free some disk " +
        "space, lower it, or delete artifacts.",
    );
  });

  test.each([
    ["too young", { min_age_seconds: 3_600 }],
    ["to stay by the strategy", { cleanup_strategy: "none" as const }],
  ])("takes nobody away who is %s", async (_, more) => {
    const disk = new Disk(1_000);
    const store = new RetainingArtifactStore(disk, { ...TENTH, ...more });
    await store.putText(textOf("a", 900));
    await expect(store.putText("x")).rejects.toMatchObject(FULL);
    expect(await idsIn(store)).toHaveLength(1);
  });

  test("has the expired leave first", async () => {
    let now = 0;
    const disk = new Disk(1_000, () => now);
    const store = new RetainingArtifactStore(disk, { ...TENTH, ttl_seconds: 60 }, { clock: () => now });
    await store.putText(textOf("a", 500));
    now = 30_000;
    const { id } = await store.putText(textOf("b", 400));
    now = 60_000;
    const last = await store.putText(textOf("c", 500));
    expect(await idsIn(store)).toEqual([id, last.id]);
  });

  test("counts a content once: two who share it leave together", async () => {
    const disk = new Disk(1_000);
    const store = new RetainingArtifactStore(disk, TENTH);
    const scopes = [{ session_id: "s" }, { session_id: "t" }];
    for (const scope of scopes) await store.putText(textOf("a", 400), { scope });
    expect(disk.free).toBe(600);
    await store.putText(textOf("b", 501));
    expect(await idsIn(store)).toHaveLength(1);
    expect(disk.free).toBe(499);
  });

  test("notices what others write, and what they leave", async () => {
    const disk = new Disk(1_000);
    const store = new RetainingArtifactStore(disk, { ...TENTH, cleanup_strategy: "none" });
    disk.others = 900;
    await expect(store.putText("x")).rejects.toMatchObject(FULL);
    disk.others = 950;
    await expect(store.putText("x")).rejects.toMatchObject(FULL);
    await store.putText("");
    disk.others = 899;
    await store.putText("x");
  });

  test("asks for no more than its disk, when another limit does not hold either", async () => {
    let now = 0;
    const disk = new Disk(1_000, () => now);
    const limits = { ...TENTH, max_session_bytes: 300, min_age_seconds: 60 };
    const store = new RetainingArtifactStore(disk, limits, { clock: () => now });
    await store.putText(textOf("a", 300));
    now = 120_000;
    const scope = { session_id: "s" };
    const other = new RetainingArtifactStore(disk, {}, { clock: () => now });
    const young = [];
    for (const letter of ["b", "c"]) young.push((await other.putText(textOf(letter, 200), { scope })).id);
    const { id } = await store.putText(textOf("d", 350));
    expect(await idsIn(store)).toEqual([...young, id]);
  });

  test("holds within other limits", async () => {
    const disk = new Disk(1_000);
    const store = new RetainingArtifactStore(disk, { ...TENTH, max_total_bytes: 500 });
    await store.putText(textOf("a", 300));
    await store.putText(textOf("b", 300));
    expect(disk.free).toBe(700);
    disk.others = 550;
    await store.putText(textOf("c", 100));
    expect(disk.free).toBe(350);
    await expect(store.putText(textOf("d", 501))).rejects.toMatchObject({ path: "retention.max_total_bytes" });
  });
});

describe("a store that", () => {
  test("cannot tell what is free leaves nothing free", async () => {
    const store = new RetainingArtifactStore(new BareMemoryStore(), { ...TENTH, min_free_disk: 0.9 });
    await store.putText(textOf("a", 10_000));
    expect(store.space).toBeUndefined();
  });

  test.each([
    { free_bytes: 0, total_bytes: 0 },
    { free_bytes: Number.NaN, total_bytes: 100 },
    { free_bytes: 0, total_bytes: Number.NaN },
  ])("says %j has said nothing", async (space) => {
    const bare = Object.assign(new BareMemoryStore(), { space: async () => space });
    const store = new RetainingArtifactStore(bare, TENTH);
    await store.putText(textOf("a", 10_000));
    expect(await store.space?.()).toEqual(space);
  });

  test("fails to say takes nothing, and says why", async () => {
    const failing = { space: () => Promise.reject(Object.assign(new Error("/secret"), { code: "EIO" })) };
    const store = new RetainingArtifactStore(Object.assign(new BareMemoryStore(), failing), TENTH);
    await expect(store.putText("x")).rejects.toMatchObject({ code: "E_STORE_READ" });
  });

  test("is not asked where nothing has to stay free", async () => {
    const disk = new Disk(10);
    await new RetainingArtifactStore(disk, { max_artifact_bytes: null }).putText(textOf("a", 10_000));
    expect(disk.looks).toBe(0);
  });
});
