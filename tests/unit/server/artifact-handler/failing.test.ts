/** Stores and memories that fail. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { ADA, errorOf, serving, TEN } from "./serving.js";

describe("a store that fails", () => {
  const words = "EIO: /home/ada/.cache/secret";
  class Failing extends MemoryArtifactStore {
    constructor(readonly method: "stat" | "openReader" | "first byte" | "second piece") {
      super({ retention: null });
    }
    override async stat(...asked: Parameters<ArtifactStore["stat"]>): ReturnType<ArtifactStore["stat"]> {
      if (this.method === "stat") throw new Error(words);
      return super.stat(...asked);
    }
    override async openReader(): ReturnType<ArtifactStore["openReader"]> {
      if (this.method === "openReader") throw new Error(words);
      let pieces = this.method === "second piece" ? 1 : 0;
      return new ReadableStream<Uint8Array>({
        pull(controller): void {
          if (pieces-- > 0) controller.enqueue(new Uint8Array(4));
          else controller.error(new Error(words));
        },
      });
    }
  }

  test.each(["stat", "openReader", "first byte"] as const)("at %s: 503, without details", async (method) => {
    const { ref, ask } = await serving(TEN, {}, { store: new Failing(method) });
    const response = await ask(ref.id);
    expect(response.status).toBe(503);
    const { code, message } = await errorOf(response);
    expect(code).toBe("E_STORE_READ");
    expect(message).not.toContain("secret");
  });

  test("behind the first piece: the body errors", async () => {
    const { ref, ask } = await serving(TEN, {}, { store: new Failing("second piece") });
    const response = await ask(ref.id);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toMatchObject({ code: "E_STORE_READ" });
  });
});

test("a memory that fails is no reason to refuse", async () => {
  const seen = {
    add: () => Promise.reject(new Error("full")),
    has: () => Promise.reject(new Error("full")),
  };
  const { store, ref, ask } = await serving(TEN, {}, { seen });
  expect((await ask(ref.id)).status).toBe(200);
  await store.delete(ref.id, ADA);
  expect((await ask(ref.id)).status).toBe(404);
});
