/** 404 and 410, by whose session it is. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import { ADA, errorOf, serving, TEN } from "./serving.js";

describe("what is not there", () => {
  test("was never there, or is another's: 404 in the same words", async () => {
    const { store, ref, ask } = await serving();
    const theirs = await store.putText("secret", { scope: { user_id: "bob" } });
    const answers = [ref.id.replace(/....$/, "0000"), theirs.id, `${theirs.id}/meta`].map(async (path) => {
      const response = await ask(path);
      return [response.status, Object.fromEntries(response.headers), await response.text()];
    });
    const [unknown, ...others] = await Promise.all(answers);
    expect(unknown?.[0]).toBe(404);
    expect(unknown?.[2]).toContain("E_NOT_FOUND");
    for (const other of others) expect(other).toEqual(unknown);
  });

  test.each(["", "%", "%2e%2e%2f", "..%5c", "a/b", "żółć", "x".repeat(10_000), "web_0123456789ab/meta/meta"])(
    "%j is no id",
    async (path) => {
      const { ask } = await serving();
      const response = await ask(path);
      expect(response.status).toBe(404);
      expect((await response.text()).length).toBeLessThan(300);
    },
  );

  test("was deleted after it was served: 410, and 200 when it is stored again", async () => {
    const { store, ref, ask } = await serving();
    await ask(ref.id, { method: "HEAD" });
    await store.delete(ref.id, ADA);
    for (const path of [ref.id, `${ref.id}/meta`]) {
      const response = await ask(path);
      expect(response.status).toBe(410);
      expect(await errorOf(response)).toMatchObject({
        code: "E_EXPIRED",
        message: expect.stringContaining("Do not retry") as unknown,
      });
    }
    await store.putText(TEN, { scope: ADA });
    expect((await ask(ref.id)).status).toBe(200);
  });

  test("expired: 410, whether or not it was served before", async () => {
    let now = 0;
    const store = new MemoryArtifactStore({ retention: { ttl_seconds: 60 }, clock: () => now });
    const { ref, ask } = await serving(TEN, {}, { store });
    now = 60_000;
    expect((await ask(ref.id)).status).toBe(410);
  });

  test("one scope's memory is not another's", async () => {
    const store = new MemoryArtifactStore({ retention: null });
    const { ref, ask } = await serving(TEN, { scope: { user_id: "ada" } }, { store, scope: namedScope });
    expect((await ask(ref.id, { headers: { "x-user": "ada" } })).status).toBe(200);
    await store.delete(ref.id, { user_id: "ada" });
    expect((await ask(ref.id, { headers: { "x-user": "ada" } })).status).toBe(410);
    expect((await ask(ref.id, { headers: { "x-user": "bob" } })).status).toBe(404);
  });

  test("a request that may have nothing finds nothing", async () => {
    const { ref, ask } = await serving(TEN, {}, { scope: () => null });
    expect((await ask(ref.id)).status).toBe(404);
  });
});

function namedScope({ headers }: Request): ArtifactScope {
  return { user_id: headers.get("x-user") };
}
