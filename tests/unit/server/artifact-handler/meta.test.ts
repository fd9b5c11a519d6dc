/** What is said of an artifact without its bytes. */
import { describe, expect, test } from "vitest";
import { ADA, serving, TEN } from "./serving.js";

describe("what is said of an artifact", () => {
  test("is JSON, without whose it is", async () => {
    const source = { tool: "report" };
    const { store, ref, ask } = await serving(TEN, { filename: "a.pdf", source, namespace: "web" });
    const stored = await store.stat(ref.id, ADA);
    const response = await ask(`${ref.id}/meta`);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({
      id: ref.id,
      mime_type: "application/pdf",
      size_bytes: 10,
      filename: "a.pdf",
      sha256: ref.sha256,
      namespace: "web",
      source,
      stored_at: stored?.stored_at,
      used_at: stored?.used_at,
    });
  });

  test("has the time it goes where that is known", async () => {
    const { ref, ask } = await serving(TEN, {}, { expiresAt: ({ stored_at }) => stored_at + 1000 });
    const { stored_at, expires_at } = (await (await ask(`${ref.id}/meta`)).json()) as Record<string, number>;
    expect(expires_at).toBe((stored_at ?? 0) + 1000);
  });

  test("HEAD gives its length", async () => {
    const { ref, ask } = await serving();
    const { length } = await (await ask(`${ref.id}/meta`)).text();
    const head = await ask(`${ref.id}/meta`, { method: "HEAD" });
    expect(head.body).toBeNull();
    expect(head.headers.get("content-length")).toBe(String(length));
  });
});
