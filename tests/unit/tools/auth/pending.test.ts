import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ownerKey, tokenOwner } from "../../../../web/src/tools/auth/owner.js";
import { PendingRequests, type PendingRequest } from "../../../../web/src/tools/auth/pending.js";
import { Turns } from "../../../../web/src/tools/auth/turns.js";

function requestOf(user_id: string, provider = "files"): PendingRequest {
  return { owner: { tenant_id: null, user_id }, trace_id: null, provider, identity: "i", verifier: "v" };
}

test("a request is given out once, within ten minutes", () => {
  let now = 0;
  const pending = new PendingRequests(() => now);
  pending.add("a", requestOf("ada"));
  pending.add("b", requestOf("ada"));
  now = 599_999;
  expect(pending.take("a")).toMatchObject(requestOf("ada"));
  expect(pending.take("a")).toBeNull();
  now = 600_000;
  expect(pending.take("b")).toBeNull();
});

test("one user who asks without end loses the oldest requests, and nobody else's", () => {
  const pending = new PendingRequests(() => 0);
  pending.add("eve", requestOf("eve"));
  for (let at = 0; at < 17; at += 1) pending.add(`ada ${at}`, requestOf("ada"));
  expect(pending.take("ada 0")).toBeNull();
  expect(pending.take("ada 1")).not.toBeNull();
  expect(pending.take("eve")).not.toBeNull();
});

test("many users at once are bounded too", () => {
  const pending = new PendingRequests(() => 0);
  for (let at = 0; at < 10_001; at += 1) pending.add(`${at}`, requestOf(`user ${at}`));
  expect(pending.take("0")).toBeNull();
  expect(pending.take("1")).not.toBeNull();
  expect(pending.take("10000")).not.toBeNull();
});

test("what a user forgets is dropped for that provider alone", () => {
  const pending = new PendingRequests(() => 0);
  pending.add("a", requestOf("ada"));
  pending.add("b", requestOf("ada", "mail"));
  pending.add("c", requestOf("eve"));
  pending.drop({ tenant_id: null, user_id: "ada" }, "files");
  expect(["a", "b", "c"].map((state) => pending.take(state) !== null)).toEqual([false, true, true]);
});

test("no two users share a key", () => {
  const name = fc.oneof(
    fc.constantFrom("a", "[", '[null,"a"]', '["t","a"]', '["t","a"]]'),
    fc.string({ minLength: 1 }),
  );
  const tenant = fc.option(fc.oneof(fc.constantFrom("t", "", "[", "null"), fc.string()));
  const owner = fc.record({ tenant_id: tenant, user_id: name }).map((user) => tokenOwner(user));
  fc.assert(
    fc.property(owner, owner, (one, two) => {
      const equal = one.tenant_id === two.tenant_id && one.user_id === two.user_id;
      expect(ownerKey(one) === ownerKey(two)).toBe(equal);
    }),
    { numRuns: 1000 },
  );
});

test("turns of one key never overlap, whatever fails; those of others do", async () => {
  const turns = new Turns();
  const log: string[] = [];
  const work =
    (name: string, fails = false) =>
    async (): Promise<string> => {
      log.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const all = await Promise.allSettled([
    turns.take("x", work("1", true)),
    turns.take("x", work("2")),
    turns.take("y", work("3")),
  ]);
  expect(all.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(log.indexOf("2 begins")).toBeGreaterThan(log.indexOf("1 ends"));
  expect(log.indexOf("3 begins")).toBeLessThan(log.indexOf("1 ends"));
});
