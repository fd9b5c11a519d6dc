/** What others were seen to get wrong about stores, shown to be right here. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { RetentionConfig } from "../../../web/src/config/types.js";
import { ScopedArtifacts } from "../../../web/src/artifacts/scoped.js";
import { createSluice, type AnswerRef, type Sluice } from "../../../web/src/index.js";
import { noise } from "../artifacts/noise.js";
import { base64, onlyBytes, PDF, prose } from "./samples.js";

async function opened(): Promise<{ store: MemoryArtifactStore; sluice: Sluice }> {
  const store = new MemoryArtifactStore();
  return { store, sluice: await createSluice({ store }) };
}

const ADA = { tenant_id: "acme", user_id: "ada", session_id: "s", trace_id: "t" };

test("a blob above 10 MiB is stored whole, not thrown away", async () => {
  const { store, sluice } = await opened();
  const large = Buffer.concat([PDF, noise(11 * 1024 * 1024)]);
  const resource = { uri: "file:///large.pdf", blob: base64(large) };
  const { artifacts, failures } = await sluice.transform({ content: [{ type: "resource", resource }] });
  expect(failures).toEqual([]);
  expect((await onlyBytes(store, artifacts)).equals(large)).toBe(true);
});

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

/** A result of Ada's, in a store. */
async function stored(): Promise<{ store: MemoryArtifactStore; sluice: Sluice; ref: AnswerRef; value: unknown }> {
  const { store, sluice } = await opened();
  const { artifacts, value } = await sluice.transform({ log: prose(30_000) }, { scope: ADA, dialect: "mcp" });
  const [ref] = artifacts;
  if (ref === undefined) throw new Error("nothing was stored");
  return { store, sluice, ref, value };
}

describe("an id is not enough", () => {
  test("who names no session is not let in without a check", async () => {
    const { store, sluice, ref, value } = await stored();
    for (const scope of [{}, { ...ADA, session_id: null }, { ...ADA, user_id: "bob" }, { ...ADA, trace_id: null }]) {
      const download = new ScopedArtifacts(store, scope).download(ref.id);
      await expect(download).rejects.toMatchObject({ code: "E_NOT_FOUND" });
      await expect(sluice.restore(value, { scope })).rejects.toMatchObject({ code: "E_NOT_FOUND" });
    }
    await expect(sluice.restore(value)).rejects.toMatchObject({ code: "E_NOT_FOUND" });
    expect(await sluice.restore(value, { scope: ADA })).toEqual({ log: prose(30_000) });
  });

  test("a text read for one user is not given to another", async () => {
    const store = new MemoryArtifactStore();
    const link = { content: [{ type: "resource_link", uri: "mail://inbox", name: "inbox", size: 30_000 }] };
    const config = { resources: { auto_read_if_size_under_bytes: 100_000 } };
    const reader = await createSluice({ store, config });
    for (const user_id of ["ada", "bob"]) {
      const scope = { user_id };
      const text = `mail of ${user_id}: ${prose(29_000)}`;
      const readResource = (uri: string): Promise<unknown> => Promise.resolve({ contents: [{ uri, text }] });
      const { artifacts } = await reader.transform(link, { scope, readResource });
      expect((await onlyBytes(store, artifacts, scope)).toString()).toBe(text);
      for (const { id } of artifacts) {
        expect(await store.get(id, { user_id: user_id === "ada" ? "bob" : "ada" })).toBeNull();
        expect(await store.get(id)).toBeNull();
      }
    }
  });
});
