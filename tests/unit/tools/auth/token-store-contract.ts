/** What every token store must do, run against each. */
import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { StoredToken, TokenStore } from "../../../../web/src/tools/auth/token-store.js";

/** A token that can be told from others by `name`. */
export function tokenNamed(name: string): StoredToken {
  return {
    access_token: `access ${name}`,
    refresh_token: `refresh ${name}`,
    expires_at: 2000,
    obtained_at: 1000,
    issued_by: "x",
  };
}

/** The whole contract, for a store called `title`; `open` gives an empty one. */
export function describeTokenStore(title: string, open: () => Promise<TokenStore>): void {
  describe.each([title])("%s", () => {
    let store: TokenStore;
    beforeEach(async () => {
      store = await open();
    });

    test("gives back what was stored last, for that user and provider alone", async () => {
      await store.store("ada", "files", tokenNamed("1"));
      await store.store("ada", "files", tokenNamed("2"));
      expect(await store.get("ada", "files")).toEqual(tokenNamed("2"));
      expect(await store.get("ada", "mail")).toBeNull();
      expect(await store.get("eve", "files")).toBeNull();
    });

    test("keeps what is null and what has expired: the manager decides", async () => {
      const token = { ...tokenNamed("1"), refresh_token: null, expires_at: null };
      await store.store("ada", "files", token);
      expect(await store.get("ada", "files")).toEqual(token);
      await store.store("ada", "files", { ...token, expires_at: 0 });
      expect(await store.get("ada", "files")).toEqual({ ...token, expires_at: 0 });
    });

    test("deletes one and no other, and what is not there without complaint", async () => {
      await store.store("ada", "files", tokenNamed("1"));
      await store.store("eve", "files", tokenNamed("2"));
      await store.delete("ada", "files");
      await store.delete("ada", "files");
      expect(await store.get("ada", "files")).toBeNull();
      expect(await store.get("eve", "files")).toEqual(tokenNamed("2"));
    });

    test("two pairs of names never share a place", async () => {
      const name = fc.oneof(
        fc.constantFrom("", "a", "b:c", "a:b", "c", "__proto__", '","', "a\0", "/", "../a"),
        fc.string(),
      );
      await fc.assert(
        fc.asyncProperty(name, name, name, name, async (user, provider, otherUser, otherProvider) => {
          fc.pre(user !== otherUser || provider !== otherProvider);
          await store.store(user, provider, tokenNamed("1"));
          await store.store(otherUser, otherProvider, tokenNamed("2"));
          expect(await store.get(user, provider)).toEqual(tokenNamed("1"));
          await store.delete(otherUser, otherProvider);
          expect(await store.get(user, provider)).toEqual(tokenNamed("1"));
          await store.delete(user, provider);
          expect(await store.get(user, provider)).toBeNull();
        }),
      );
    });

    test("what it gave and what it was given may change without its knowing", async () => {
      const given = { ...tokenNamed("1") };
      await store.store("ada", "files", given);
      given.access_token = "changed";
      Object.assign((await store.get("ada", "files")) ?? {}, { access_token: "changed" });
      expect(await store.get("ada", "files")).toEqual(tokenNamed("1"));
    });

    test("lets one at a time work for a user and provider, where several processes share it", async () => {
      const alone = store.exclusively?.bind(store);
      if (alone === undefined) return;
      let working = 0;
      const work = async (): Promise<number> => {
        working += 1;
        await new Promise((resolve) => setImmediate(resolve));
        expect(working).toBe(1);
        working -= 1;
        return 7;
      };
      const all = await Promise.all(Array.from({ length: 10 }, () => alone("ada", "files", work)));
      expect(all).toEqual(Array.from({ length: 10 }, () => 7));
      await expect(alone("ada", "files", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
      expect(await alone("ada", "files", work)).toBe(7);
    });
  });
}
