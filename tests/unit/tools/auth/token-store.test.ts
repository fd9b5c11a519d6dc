import { inspect } from "node:util";
import { expect, test } from "vitest";
import { MemoryTokenStore } from "../../../../web/src/tools/auth/token-store.js";
import { SharedTokenStore } from "./consenting.js";
import { describeTokenStore, tokenNamed } from "./token-store-contract.js";

describeTokenStore("MemoryTokenStore", async () => new MemoryTokenStore());
describeTokenStore("a store that several managers share", async () => new SharedTokenStore());

test("a memory store shows nothing of what it keeps", async () => {
  const store = new MemoryTokenStore();
  await store.store("ada", "files", tokenNamed("1"));
  expect(inspect(store, { showHidden: true, depth: null })).not.toMatch(/access|refresh/);
  expect(JSON.stringify(store)).toBe("{}");
});
