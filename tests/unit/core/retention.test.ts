/** The limits of a store: each that a configuration names is kept, and what a result loses by them is said. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { RetentionConfig } from "../../../web/src/config/types.js";
import { createSluice, type Sluice } from "../../../web/src/index.js";
import { prose } from "./samples.js";

const scope = { session_id: "s", trace_id: "t" };
const FIVE = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`part${n}`, `${n}${prose(19_999)}`]));

async function opened(retention: RetentionConfig): Promise<{ store: MemoryArtifactStore; sluice: Sluice }> {
  const store = new MemoryArtifactStore();
  return { store, sluice: await createSluice({ store, config: { retention } }) };
}

describe.each(["observation", "mcp"] as const)("in the %s dialect", (dialect) => {
  test.each<[string, RetentionConfig, boolean[]]>([
    ["a limit of artifacts", { max_artifacts_per_trace: 2 }, [true, true, true, false, false]],
    ["a limit of bytes", { max_trace_bytes: 45_000 }, [true, true, true, false, false]],
    [
      "a limit that makes no room",
      { max_trace_bytes: 45_000, cleanup_strategy: "none" },
      [false, false, true, true, true],
    ],
    ["no limit", {}, [false, false, false, false, false]],
  ])("five artifacts meet %s at the third", async (_, retention, truncated) => {
    const { store, sluice } = await opened(retention);
    const { artifacts, failures, value, text } = await sluice.transform(FIVE, { dialect, scope });
    expect(artifacts.map(({ source }) => source["truncated"] === true)).toEqual(truncated);
    const kept = await Promise.all(artifacts.map(({ id }) => store.exists(id, scope)));
    expect(kept).toEqual(truncated.map((is) => !is));
    const isFull = truncated.includes(true);
    expect(failures).toMatchObject(isFull ? [{ code: "E_STORE_FULL" }] : []);
    expect(text.includes("truncated_")).toBe(isFull);
    const restored = await sluice.restore(value, { scope }).catch((error: unknown) => error);
    const outcome = isFull ? { code: "E_NOT_FOUND" } : FIVE;
    expect(restored).toMatchObject(dialect === "mcp" ? outcome : (value as object));
  });
});

test("where failures are thrown, this one is", async () => {
  const config = { retention: { max_artifacts_per_trace: 2 } };
  const sluice = await createSluice({ store: new MemoryArtifactStore(), config, onStoreFailure: "throw" });
  await expect(sluice.transform(FIVE, { scope })).rejects.toMatchObject({ code: "E_STORE_FULL" });
});

test("the hash and the size of what is gone are those it had, and where its references stood is not told", async () => {
  const { sluice } = await opened({ max_artifacts_per_trace: 1 });
  const { artifacts } = await sluice.transform(FIVE, { scope });
  const [gone] = artifacts;
  const size = Buffer.byteLength(String(FIVE["part1"]));
  expect(gone).toMatchObject({ size_bytes: size, source: { truncated: true, original_size: size } });
  expect(gone?.id).toBe(`truncated_${gone?.sha256?.slice(0, 12)}`);
  expect(gone?.source["warning"]).toMatch(/^Content not stored \(E_STORE_FULL\): /);
});

const ADA = { tenant_id: "acme", user_id: "ada", session_id: "s", trace_id: "t" };

/** Texts of about these lengths. */
const parts = (sizes: readonly number[]): unknown => sizes.map((size, at) => `${at}${prose(size)}`);

describe("limits that a configuration names are kept", () => {
  test.each<[keyof RetentionConfig, RetentionConfig]>([
    ["max_artifact_bytes", { max_artifact_bytes: 20_000 }],
    ["max_trace_bytes", { max_trace_bytes: 50_000 }],
    ["max_session_bytes", { max_session_bytes: 50_000 }],
    ["max_artifacts_per_trace", { max_artifacts_per_trace: 2 }],
    ["max_artifacts_per_session", { max_artifacts_per_session: 2 }],
    ["max_namespace_bytes", { max_namespace_bytes: 50_000 }],
    ["max_total_bytes", { max_total_bytes: 50_000 }],
  ])("%s", async (key, limit) => {
    const config = { retention: { ...limit, cleanup_strategy: "none" } } as const;
    const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
    const { artifacts, failures } = await sluice.transform(parts([15_000, 15_000, 25_000]), { scope: ADA });
    expect(artifacts.map(({ source }) => source["truncated"] === true)).toEqual([false, false, true]);
    expect(failures).toMatchObject([{ path: `retention.${key}` }]);
  });

  test.each(["stored", "used"] as const)("ttl_seconds and ttl_from: %s", async (ttl_from) => {
    let now = 0;
    const store = new MemoryArtifactStore({ clock: () => now });
    const sluice = await createSluice({ store, config: { retention: { ttl_seconds: 60, ttl_from } } });
    const original = { log: prose(30_000) };
    const { value } = await sluice.transform(original, { dialect: "mcp", scope: ADA });
    now = 59_999;
    expect(await sluice.restore(value, { scope: ADA })).toEqual(original);
    now = 60_000;
    const later = await sluice.restore(value, { scope: ADA }).catch((error: unknown) => error);
    const expired: unknown = expect.objectContaining({ code: "E_EXPIRED" });
    expect(later).toEqual(ttl_from === "used" ? original : expired);
  });
});
