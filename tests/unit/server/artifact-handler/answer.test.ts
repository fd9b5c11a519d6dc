/** What is answered with an artifact that is there, and what is not answered at all. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { artifactHandler } from "../../../../web/src/server/artifacts/handler.js";
import { ADA, serving, TEN } from "./serving.js";

test("the bytes come with their type, name, length and tag", async () => {
  const { ref, ask } = await serving(TEN, { filename: "Q3.pdf" });
  const response = await ask(ref.id);
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(TEN);
  expect(Object.fromEntries(response.headers)).toEqual({
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    "content-disposition": 'inline; filename="Q3.pdf"',
    "content-length": "10",
    "content-security-policy":
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:",
    "content-type": "application/pdf",
    "cross-origin-resource-policy": "same-origin",
    etag: `"${ref.sha256}"`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
});

test("HEAD says the same and gives no bytes, and is no use", async () => {
  const { store, ref, ask } = await serving();
  const before = await store.stat(ref.id, ADA);
  const head = await ask(ref.id, { method: "HEAD", headers: { range: "bytes=2-3" } });
  expect(head.body).toBeNull();
  expect(await store.stat(ref.id, ADA)).toEqual(before);
  const got = await ask(ref.id);
  expect(head.status).toBe(200);
  expect(Object.fromEntries(head.headers)).toEqual(Object.fromEntries(got.headers));
});

test("an empty artifact is an empty body", async () => {
  const { ref, ask } = await serving(new Uint8Array());
  const response = await ask(ref.id);
  expect(response.headers.get("content-length")).toBe("0");
  expect(await response.text()).toBe("");
});

test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s is not allowed, and what is, is said", async (method) => {
  const { ref, ask } = await serving();
  const response = await ask(ref.id, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD");
});

test.each(["/", "/artifacts/web_0123456789ab", "/app/artifacts", "/app/other", "/apple/artifacts/x"])(
  "%s is for somebody else",
  async (path) => {
    const handle = artifactHandler({ store: new MemoryArtifactStore(), scope: ADA, base: "/app/" });
    expect(await handle(new Request(`http://localhost${path}`))).toBeNull();
  },
);

test.each(["", "app", "/app", "app/"])("%j is no base", (base) => {
  const store = new MemoryArtifactStore();
  expect(() => artifactHandler({ store, scope: ADA, base })).toThrow(
    expect.objectContaining({ code: "E_INVALID_ARGUMENT", path: "base" }),
  );
});
