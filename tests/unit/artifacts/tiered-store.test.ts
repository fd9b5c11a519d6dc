import { expect, test } from "vitest";
import { BareMemoryStore, MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type {
  ArtifactInfo,
  ArtifactRef,
  ArtifactScope,
  ArtifactStore,
  ArtifactWriter,
} from "../../../web/src/artifacts/store.js";
import { TieredArtifactStore } from "../../../web/src/index.js";
import { dated, hashOf, listed, same, streamed, noise } from "./bytes.js";
import { describeStore, type OpenSubject, type Subject } from "./store-contract.js";

/** Two stores that are asked one after the other are dated by one clock, which never stands still. */
const precise = (): number => performance.timeOrigin + performance.now();

const opener =
  (limitBytes: number, make: (options: object) => ArtifactStore): OpenSubject =>
  async (options = {}) => {
    const [near, far] = [make({ clock: precise, ...options }), make({ clock: precise, ...options })];
    return {
      store: new TieredArtifactStore({ near, far, limitBytes }),
      contents: async () => {
        const refs = [...(await listed(near.list())), ...(await listed(far.list()))];
        return new Set(refs.map(({ sha256 }) => sha256)).size;
      },
      dispose: async () => undefined,
    } satisfies Subject;
  };

const bare = (options: object): ArtifactStore => new BareMemoryStore(options);
describeStore("TieredArtifactStore, all near", opener(1e9, bare));
describeStore("TieredArtifactStore, all far", opener(0, bare));
describeStore("TieredArtifactStore, some far", opener(5, bare));
describeStore(
  "TieredArtifactStore of stores with limits",
  opener(70_000, (options) => new MemoryArtifactStore(options)),
);

interface Two {
  readonly near: ArtifactStore;
  readonly far: ArtifactStore;
  readonly store: TieredArtifactStore;
}

function two(limitBytes = 10): Two {
  const [near, far] = [new BareMemoryStore({ clock: precise }), new BareMemoryStore({ clock: precise })];
  return { near, far, store: new TieredArtifactStore({ near, far, limitBytes }) };
}

const sizes = async (store: ArtifactStore): Promise<readonly number[]> =>
  (await listed(store.list())).map(({ size_bytes }) => size_bytes);

test("size alone chooses, whichever way it comes", async () => {
  const { near, far, store } = two();
  await store.putBytes(noise(10));
  await store.putBytes(noise(11));
  await store.putText("x".repeat(9));
  await store.putText("ü".repeat(9));
  await streamed(store, noise(8, 2), [3]);
  await streamed(store, noise(5000, 2), [3]);
  expect(await sizes(near)).toEqual([10, 9, 8]);
  expect(await sizes(far)).toEqual([11, 18, 5000]);
  expect(await sizes(store)).toEqual([10, 11, 9, 18, 8, 5000]);
});

test("the limit is 300 MiB unless it is said", async () => {
  const near = new BareMemoryStore();
  const far = new BareMemoryStore();
  const store = new TieredArtifactStore({ near, far });
  const writer = await store.openWriter();
  const chunk = new Uint8Array(50 * 1024 * 1024);
  for (let turn = 0; turn < 6; turn++) await writer.write(chunk);
  expect(await sizes(far)).toEqual([]);
  await writer.abort();
});

test("a stream that passes the limit leaves nothing near, and its bytes are whole", async () => {
  const { near, far, store } = two(1000);
  const data = noise(5000);
  const ref = await streamed(store, data, [999]);
  expect(ref).toMatchObject({ sha256: await hashOf(data), size_bytes: 5000 });
  expect(await sizes(near)).toEqual([]);
  expect(await sizes(far)).toEqual([5000]);
  expect(same(await store.get(ref.id), data)).toBe(true);
  expect(await store.putBytes(data)).toEqual(ref);
});

test("an artifact that is the beginning of a stream stays", async () => {
  const { near, store } = two(1000);
  const data = noise(5000);
  const begun = await store.putBytes(data.subarray(0, 600), { filename: "begun" });
  await streamed(store, data, [600]);
  expect(await listed(near.list())).toEqual([begun]);
});

test("a stream that moves is not seen before it is closed", async () => {
  const { near } = two(1000);
  const draft: ArtifactRef[] = [];
  class Watched extends BareMemoryStore {
    override async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
      draft.push(...(await listed(near.list())));
      expect(await listed(new TieredArtifactStore({ near, far: this }).list())).toEqual([]);
      return super.openWriter(info);
    }
  }
  const far = new Watched();
  await streamed(new TieredArtifactStore({ near, far, limitBytes: 1000 }), noise(5000), [600]);
  expect(draft).toHaveLength(1);
  expect(await sizes(near)).toEqual([]);
  expect(await sizes(far)).toEqual([5000]);
});

test("a stream that the far store does not take leaves nothing in either", async () => {
  const { near } = two();
  const far = new MemoryArtifactStore({ retention: { max_artifact_bytes: 3000 } });
  const store = new TieredArtifactStore({ near, far, limitBytes: 1000 });
  await expect(streamed(store, noise(5000), [600])).rejects.toMatchObject({ code: "E_TOO_LARGE" });
  expect(await listed(near.list())).toEqual([]);
  expect(await listed(far.list())).toEqual([]);
  const writer = await store.openWriter();
  await writer.write(noise(2000));
  await writer.abort();
  expect(await sizes(near)).toEqual([]);
  expect(await sizes(far)).toEqual([]);
});

test("a content that another limit put elsewhere is in one place again when it is stored again", async () => {
  const { near, far } = two();
  const scope: ArtifactScope = { user_id: "ada" };
  const before = new TieredArtifactStore({ near, far, limitBytes: 100 });
  const ref = await before.putBytes(noise(50), { scope, filename: "a.bin", source: { tool: "t" } });
  const after = new TieredArtifactStore({ near, far, limitBytes: 10 });
  expect(await after.putBytes(noise(50), { scope })).toEqual(ref);
  expect(await sizes(near)).toEqual([]);
  expect(await sizes(far)).toEqual([50]);
});

test("contents of one short id, of which one is near and one far, both have an id of their own", async () => {
  const blunt = {
    whole: async (data: Uint8Array) => "0".repeat(12) + (await hashOf(data)).slice(12),
    stream: async () => Promise.reject(new Error("not used")),
  };
  const near = new BareMemoryStore({ hashing: blunt });
  const far = new BareMemoryStore({ hashing: blunt });
  const store = new TieredArtifactStore({ near, far, limitBytes: 10 });
  const small = await store.putBytes(noise(5));
  const large = await store.putBytes(noise(50));
  expect(large.id).not.toBe(small.id);
  expect(same(await store.get(small.id), noise(5))).toBe(true);
  expect(same(await store.get(large.id), noise(50))).toBe(true);
  expect(await store.delete(small.id)).toBe(true);
  expect(same(await store.get(large.id), noise(50))).toBe(true);
});

test("what is over in one store and nowhere in the other is over", async () => {
  let now = 0;
  const clock = (): number => now;
  const near = new MemoryArtifactStore({ clock, retention: { ttl_seconds: 1 } });
  const store = new TieredArtifactStore({ near, far: new BareMemoryStore({ clock }) });
  const { id } = await store.putText("x");
  now = 2000;
  await expect(store.get(id)).rejects.toMatchObject({ code: "E_EXPIRED" });
  await expect(store.stat("artifact_000000000000")).resolves.toBeNull();
});

test("exclusive work is done by one at a time where either is shared, and not offered where none is", async () => {
  const { near, far, store } = two();
  expect(store.exclusively).toBeUndefined();
  let held = false;
  const shared = Object.assign(new BareMemoryStore(), {
    exclusively: async <T>(work: () => Promise<T>): Promise<T | null> => {
      if (held) return null;
      held = true;
      return work().finally(() => (held = false));
    },
  });
  for (const tiers of [
    { near: shared, far },
    { near, far: shared },
  ]) {
    const tiered = new TieredArtifactStore(tiers);
    expect(await tiered.exclusively?.(async () => tiered.exclusively?.(async () => 1))).toBeNull();
    expect(await tiered.exclusively?.(async () => "done")).toBe("done");
  }
});

const made = (options: object) => () => new TieredArtifactStore(options as never);

test("wrong options are refused by name", () => {
  const { near, far } = two();
  expect(made({ near })).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }) as Error);
  for (const limitBytes of [-1, 1.5, "5"]) {
    expect(made({ near, far, limitBytes })).toThrow(expect.objectContaining({ path: "limitBytes" }) as Error);
  }
});

test("lists end early when nobody reads on", async () => {
  const { store } = two();
  for (const text of ["a", "long enough to go far", "b"]) await store.putText(text);
  for await (const artifact of store.list()) {
    expect(artifact.size_bytes).toBe(1);
    break;
  }
  expect(await dated(store.list())).toHaveLength(3);
});
