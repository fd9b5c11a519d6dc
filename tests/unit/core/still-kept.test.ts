/** A result with more artifacts than its store may keep: what is gone is said to be. */
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
