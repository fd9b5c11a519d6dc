/** Many artifacts that are published at the same time, over a store that takes long for each. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { BareMemoryStore } from "../../../../web/src/artifacts/memory.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import type { ArtifactInfo, ArtifactWriter } from "../../../../web/src/artifacts/store.js";
import { listed } from "../bytes.js";

const S = { session_id: "s" };

/** A store that is far away: `most` is how many it was given at the same time. */
class FarStore extends BareMemoryStore {
  most = 0;
  #now = 0;
  #fails = false;

  failing(): this {
    this.#fails = true;
    return this;
  }

  override async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    const writer = await super.openWriter(info);
    const close = async (patch?: Parameters<ArtifactWriter["close"]>[0]): ReturnType<ArtifactWriter["close"]> => {
      this.most = Math.max(this.most, ++this.#now);
      await sleep(5 + Math.random() * 20);
      this.#now -= 1;
      if (this.#fails) throw new Error("It is away.");
      return writer.close(patch);
    };
    return new Proxy(writer, {
      get(_, name): unknown {
        if (name === "close") return close;
        const value: unknown = Reflect.get(writer, name, writer);
        return typeof value === "function" ? (value.bind(writer) as unknown) : value;
      },
    });
  }
}

const texts = (count: number): string[] => Array.from({ length: count }, (_, at) => `content ${at}`.padEnd(12));

test("where there is room, no put waits for another", async () => {
  const far = new FarStore();
  const store = new RetainingArtifactStore(far, { ttl_seconds: null });
  await Promise.all(texts(30).map((text) => store.putText(text, { scope: S })));
  expect(far.most).toBeGreaterThan(20);
  expect(await listed(store.list(S))).toHaveLength(30);
});

test("at a limit the last take the room of the first, and there is never more than may be", async () => {
  const far = new FarStore();
  const store = new RetainingArtifactStore(far, { ttl_seconds: null, max_artifacts_per_session: 7 });
  const refs = await Promise.all(texts(30).map((text) => store.putText(text, { scope: S })));
  const kept = await listed(store.list(S));
  expect(kept).toHaveLength(7);
  expect(kept.map(({ id }) => id)).toContain(refs.at(-1)?.id);
});

test("where nothing may leave, exactly as many are stored as there is room for", async () => {
  const limits = { ttl_seconds: null, max_session_bytes: 12 * 9, cleanup_strategy: "none" } as const;
  const store = new RetainingArtifactStore(new FarStore(), limits);
  const stored = await Promise.allSettled(texts(30).map((text) => store.putText(text, { scope: S })));
  expect(stored.filter(({ status }) => status === "fulfilled")).toHaveLength(9);
  expect(await listed(store.list(S))).toHaveLength(9);
});

test("what could not be stored gives its room back", async () => {
  const far = new FarStore();
  const limits = { ttl_seconds: null, max_artifacts_per_session: 3, cleanup_strategy: "none" } as const;
  const store = new RetainingArtifactStore(far, limits);
  const stored = await Promise.allSettled(
    texts(3).map((text, at) => store.putText(text, { scope: S, ...(at === 0 && { namespace: "a" }) })),
  );
  expect(stored.every(({ status }) => status === "fulfilled")).toBe(true);
  const away = new RetainingArtifactStore(new FarStore().failing(), limits);
  for (let round = 0; round < 3; round++) {
    const tried = await Promise.allSettled(texts(3).map((text) => away.putText(text, { scope: S })));
    expect(tried.map((one) => (one.status === "rejected" ? String(one.reason) : "stored"))).not.toContain("stored");
    // Room that was not given back would be refused as E_STORE_FULL.
    expect(tried.some((one) => one.status === "rejected" && String(one.reason).includes("There is no room"))).toBe(
      false,
    );
  }
});
