import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { RedisTokenStore } from "../../../../web/src/server/redis/token-store.js";
import { describeTokenStore, tokenNamed } from "../../tools/auth/token-store-contract.js";
import { another, coded, inTime, SECRET, servedInTest, useRedis } from "./served.js";

const redis = useRedis();

/** A store as one process has it. */
function opened(url: string, more: Partial<ConstructorParameters<typeof RedisTokenStore>[0]> = {}): RedisTokenStore {
  return new RedisTokenStore({ ...servedInTest(url), secret: SECRET, ...more });
}

describeTokenStore("RedisTokenStore", async () => {
  await redis.command("FLUSHALL");
  return opened(redis.url);
});

describe("what is kept", () => {
  test("shows neither tokens nor whose they are, goes by itself, and is another text each time", async () => {
    await redis.command("FLUSHALL");
    const store = opened(redis.url);
    const texts = new Set<string>();
    for (let at = 0; at < 3; at++) {
      await store.store("ada", "files", tokenNamed("1"));
      const [key = "", ...others] = await redis.keys();
      expect(others).toEqual([]);
      expect(key).toMatch(/^\{sluice\}:1:tokens:[0-9a-f]{64}$/);
      texts.add(String(await redis.command("GET", key)));
      expect(await redis.command("PTTL", key)).toBeGreaterThan(1000);
    }
    expect(texts.size).toBe(3);
    const decoded = [...texts].map((text) => text + Buffer.from(text.slice(14), "base64").toString("latin1"));
    expect(decoded.join("\n")).not.toMatch(/ada|files|access|refresh/);
    expect(inspect(store, { showHidden: true, depth: null })).not.toMatch(/access|more than thirty-two/);
  });

  test("is found by another process with the same secret, and not with another secret", async () => {
    const [one, same] = [opened(redis.url), opened(redis.url)];
    await one.store("ada", "files", tokenNamed("1"));
    expect(await same.get("ada", "files")).toEqual(tokenNamed("1"));
    expect(await opened(redis.url, { secret: `${SECRET}!` }).get("ada", "files")).toBeNull();
  });

  test("is refused where it was changed, and where it is another user's or provider's", async () => {
    await redis.command("FLUSHALL");
    const store = opened(redis.url);
    await store.store("ada", "files", tokenNamed("1"));
    const [key = ""] = await redis.keys();
    const sealed = String(await redis.command("GET", key));
    const changed = Buffer.from(sealed.slice(14), "base64");
    for (const at of [0, 12, 28, changed.length - 1]) {
      const bytes = Buffer.from(changed);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await redis.command("SET", key, sealed.slice(0, 14) + bytes.toString("base64"));
      await expect(store.get("ada", "files")).rejects.toEqual(coded("E_STORE_CORRUPT"));
    }
    for (const text of ["", "1.", "1" + sealed.slice(1), sealed.slice(0, 30), "hush"]) {
      await redis.command("SET", key, text);
      const failure: unknown = await store.get("ada", "files").catch((error: unknown) => error);
      expect(failure).toEqual(coded("E_STORE_CORRUPT"));
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/hush|more than thirty-two/);
    }
    for (const [user, provider] of [
      ["eve", "files"],
      ["ada", "mail"],
    ] as const) {
      await store.store(user, provider, tokenNamed("2"));
      const other = (await redis.keys()).find((each) => each !== key) ?? "";
      await redis.command("SET", other, sealed);
      await expect(store.get(user, provider)).rejects.toEqual(coded("E_STORE_CORRUPT"));
      await store.delete(user, provider);
    }
    // What is stored anew is as good as before.
    await store.store("ada", "files", tokenNamed("3"));
    expect(await store.get("ada", "files")).toEqual(tokenNamed("3"));
  });

  test("is no larger than a token is", async () => {
    const store = opened(redis.url);
    const access_token = "x".repeat(300_000);
    await expect(store.store("ada", "files", { ...tokenNamed("1"), access_token })).rejects.toEqual(
      coded("E_TOO_LARGE"),
    );
  });

  test("needs a secret that nobody guesses", () => {
    expect(() => opened(redis.url, { secret: "short" })).toThrow(
      expect.objectContaining({ code: "E_INVALID_ARGUMENT" }),
    );
  });
});

describe("a change of the secret", () => {
  const NEXT = "another secret of more than thirty-two characters";
  const before = (): RedisTokenStore => opened(redis.url, { oldSecrets: [NEXT] });
  const after = (): RedisTokenStore => opened(redis.url, { secret: NEXT, oldSecrets: [SECRET] });

  test("loses no token, and each is encrypted anew when it is read", async () => {
    await redis.command("FLUSHALL");
    await opened(redis.url).store("ada", "files", tokenNamed("1"));
    const [old = ""] = await redis.keys();
    await redis.command("PEXPIRE", old, "5000000");
    expect(await after().get("ada", "files")).toEqual(tokenNamed("1"));
    const [key = "", ...others] = await redis.keys();
    expect([key === old, others]).toEqual([false, []]);
    expect(await redis.command("PTTL", key)).toBeLessThanOrEqual(5_000_000);
    expect(await opened(redis.url, { secret: NEXT }).get("ada", "files")).toEqual(tokenNamed("1"));
    expect(await opened(redis.url).get("ada", "files")).toBeNull();
  });

  test("may take a while: processes with either secret see the same token, the last that was stored", async () => {
    await redis.command("FLUSHALL");
    const [one, other] = [before(), after()];
    for (const [at, store] of [one, other, other, one, one, other].entries()) {
      await store.store("ada", "files", tokenNamed(String(at)));
      expect(await one.get("ada", "files")).toEqual(tokenNamed(String(at)));
      expect(await other.get("ada", "files")).toEqual(tokenNamed(String(at)));
      expect(await redis.keys()).toHaveLength(1);
    }
    await other.delete("ada", "files");
    expect([await one.get("ada", "files"), await redis.keys()]).toEqual([null, []]);
  });

  test("does not let two processes renew a token at once, at any step", async () => {
    const { work, most } = watched();
    const steps = [
      [opened(redis.url), before()],
      [before(), after()],
      [after(), opened(redis.url, { secret: NEXT })],
    ];
    for (const stores of steps) {
      const turns = Array.from({ length: 4 }, () => stores.map((store) => store.exclusively("ada", "files", work)));
      await Promise.all(turns.flat());
    }
    expect(most()).toBe(1);
  });

  test("keeps what is stored while it is encrypted again", async () => {
    await redis.command("FLUSHALL");
    await opened(redis.url).store("ada", "files", tokenNamed("1"));
    const store = after();
    await Promise.all([store.get("ada", "files"), before().store("ada", "files", tokenNamed("2"))]);
    await store.get("ada", "files");
    expect(await after().get("ada", "files")).toEqual(tokenNamed("2"));
  });
});

/** Work that notes when others are at it too. */
function watched(): { readonly work: () => Promise<void>; readonly most: () => number } {
  let [working, most] = [0, 0];
  const work = async (): Promise<void> => {
    working += 1;
    most = Math.max(most, working);
    await sleep(5);
    working -= 1;
  };
  return { work, most: () => most };
}

describe("alone", () => {
  test("is one at a time over all processes, for each user and provider apart", async () => {
    const stores = [opened(redis.url), opened(redis.url), opened(redis.url)] as const;
    const { work, most } = watched();
    const turns = Array.from({ length: 4 }, () => stores.map((store) => store.exclusively("ada", "files", work)));
    await Promise.all(turns.flat());
    expect(most()).toBe(1);
    const order: string[] = [];
    await stores[0].exclusively("ada", "files", async () => {
      await stores[1].exclusively("ada", "mail", async () => void order.push("another provider"));
      await stores[1].exclusively("eve", "files", async () => void order.push("another user"));
      order.push("work");
    });
    expect(order).toEqual(["another provider", "another user", "work"]);
  });

  test("lasts as long as the work does, which may be longer than a lease", async () => {
    const times = { lease: 300 };
    const [one, other] = [opened(redis.url, { times }), opened(redis.url, { times })];
    const order: string[] = [];
    const long = one.exclusively("long", "files", async () => {
      await sleep(1500);
      order.push("long");
    });
    await sleep(50);
    await other.exclusively("long", "files", async () => void order.push("next"));
    await long;
    expect(order).toEqual(["long", "next"]);
  });

  test("is not waited for without end, and is free again when work fails", async () => {
    const [one, other] = [opened(redis.url), opened(redis.url, { times: { timeout: 200 } })];
    const done = new AbortController();
    const holding = one.exclusively("held", "files", () => sleep(60_000, undefined, { signal: done.signal }));
    holding.catch(() => undefined);
    await sleep(50);
    const work = vi.fn<() => Promise<number>>(() => Promise.resolve(1));
    await expect(other.exclusively("held", "files", work)).rejects.toEqual(coded("E_STORE_WRITE"));
    expect(work).not.toHaveBeenCalled();
    done.abort();
    await expect(holding).rejects.toThrow("aborted");
    expect(await other.exclusively("held", "files", work)).toBe(1);
  });

  test("what the work throws is thrown, though the server is away by then", async () => {
    const server = await another();
    const store = opened(server.url, { ...servedInTest(server.url, 500) });
    await inTime(() => store.get("ada", "files"));
    const failing = store.exclusively("ada", "files", async () => {
      await server.kill();
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await expect(store.exclusively("ada", "files", () => Promise.resolve(1))).rejects.toEqual(coded("E_STORE_WRITE"));
  });
});
