/** What lies where, and links to it. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { s3StoreFrom, type S3ArtifactStore } from "../../../../web/src/s3.js";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import { hashOf } from "../bytes.js";
import { CREDENTIALS, TestS3 } from "./ceph.js";

let s3: TestS3;
let prefix: string;
let store: S3ArtifactStore;
beforeAll(async () => {
  s3 = await TestS3.started();
  prefix = s3.prefix();
  store = s3.store({ prefix });
});
afterAll(async () => {
  await store.close();
  await s3[Symbol.asyncDispose]();
});

const ADA: ArtifactScope = { tenant_id: "acme", user_id: "ada@example.org", session_id: "s1" };

describe("a link", () => {
  test.each([
    ["text/html", "application/octet-stream"],
    ["image/svg+xml", "application/octet-stream"],
    ["application/xhtml+xml", "application/octet-stream"],
    ["text/javascript", "application/octet-stream"],
    ["text/xml", "application/octet-stream"],
    ["text/css", "application/octet-stream"],
    ["multipart/related", "application/octet-stream"],
    ["no type", "application/octet-stream"],
    ["image/png; x=<script>", "image/png"],
    ["text/csv", "text/csv; charset=utf-8"],
    ["application/pdf", "application/pdf"],
  ])("to %s answers %s, to be saved", async (mime_type, type) => {
    const { id } = await store.putText("<script>alert(1)</script>", {
      mime_type,
      filename: 'a";\r\nb.html',
      scope: ADA,
    });
    const answer = await fetch((await store.downloadUrl(id, { scope: ADA })) ?? "");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="a_;b\.html"$/);
    expect(await answer.text()).toBe("<script>alert(1)</script>");
  });

  test("has another name where one is asked for, in any script", async () => {
    const { id } = await store.putText("x", { filename: "a.txt" });
    const answer = await fetch((await store.downloadUrl(id, { filename: "../Bericht für Ada.txt" })) ?? "");
    expect(answer.headers.get("content-disposition")).toBe(
      "attachment; filename=\"Bericht fur Ada.txt\"; filename*=UTF-8''Bericht%20f%C3%BCr%20Ada.txt",
    );
  });

  test("is good for what it was made for alone", async () => {
    const { id } = await store.putText("x", { mime_type: "text/html" });
    const url = new URL((await store.downloadUrl(id, { expiresInSeconds: 60 })) ?? "");
    expect(url.searchParams.get("X-Amz-Expires")).toBe("60");
    const changed = (change: (url: URL) => void): Promise<Response> => {
      const copy = new URL(url);
      change(copy);
      return fetch(copy);
    };
    const changes: ((url: URL) => void)[] = [
      ({ searchParams }) => searchParams.set("response-content-type", "text/html"),
      ({ searchParams }) => searchParams.set("response-content-disposition", "inline"),
      ({ searchParams }) => searchParams.delete("response-content-disposition"),
      ({ searchParams }) => searchParams.set("X-Amz-Expires", "3600"),
      (copy) => (copy.pathname += "0"),
      (copy) => (copy.search = ""),
    ];
    for (const change of changes) expect((await changed(change)).status).toBe(403);
    expect((await fetch(url, { method: "PUT", body: "y" })).status).toBe(403);
    expect((await fetch(url)).status).toBe(200);
  });

  test("ends, after five minutes unless it is said when", async () => {
    const { id } = await store.putText("x");
    const url = new URL((await store.downloadUrl(id)) ?? "");
    expect(url.searchParams.get("X-Amz-Expires")).toBe("300");
    const short = (await store.downloadUrl(id, { expiresInSeconds: 1 })) ?? "";
    await expect.poll(async () => (await fetch(short)).status, { timeout: 20_000, interval: 200 }).toBe(403);
    for (const expiresInSeconds of [0, -1, 1.5, 3601, Infinity, "5"] as number[]) {
      await expect(store.downloadUrl(id, { expiresInSeconds })).rejects.toMatchObject({ path: "expiresInSeconds" });
    }
  });

  test("ends at the scope, does not count as reading, and names nobody", async () => {
    const { id } = await store.putText("mine", { scope: ADA });
    expect(await store.downloadUrl(id)).toBeNull();
    expect(await store.downloadUrl(id, { scope: { ...ADA, user_id: "eve" } })).toBeNull();
    expect(await store.downloadUrl("artifact_000000000000", { scope: ADA })).toBeNull();
    const before = await store.stat(id, ADA);
    const url = (await store.downloadUrl(id, { scope: ADA })) ?? "";
    expect(await store.stat(id, ADA)).toEqual(before);
    // Hashes and signatures may spell anything.
    const words = decodeURIComponent(url).replaceAll(/[0-9a-f]{16,}/g, "");
    for (const name of ["ada", "acme", "s1"]) expect(words).not.toContain(name);
  });
});

async function part(value: string): Promise<string> {
  return (await hashOf(new TextEncoder().encode(value))).slice(0, 32);
}

describe("keys", () => {
  test("of a scope begin with those of its session, user and tenant", async () => {
    const { id } = await store.putText("keyed", { scope: ADA });
    const trace = await store.keyPrefix(ADA);
    const levels = await Promise.all(
      (["tenant", "user", "session"] as const).map((level) => store.keyPrefix(ADA, level)),
    );
    expect(levels[0]).toBe(`${prefix}/scopes/${await part("acme")}/`);
    expect(levels[1]).toBe(`${levels[0]}${await part("ada@example.org")}/`);
    expect(levels[2]).toBe(`${levels[1]}${await part("s1")}/`);
    expect(trace).toBe(`${levels[2]}-/`);
    expect(await s3.keys(prefix)).toContain(`${trace.slice(prefix.length + 1)}refs/${id}`);
  });

  test("of two scopes are never the same", async () => {
    const odd = [null, "", "-", "..", "/", "null", "\ud800", "\udfff", "\ufffd", '"\\ud800"', "a/b", "x".repeat(1024)];
    const scopes = odd.flatMap((value) => [
      { tenant_id: value, user_id: "x" },
      { tenant_id: "x", user_id: value },
    ]);
    const folders = await Promise.all(scopes.map((scope) => store.keyPrefix(scope)));
    expect(new Set(folders).size).toBe(scopes.length);
    for (const folder of folders) expect(folder).toMatch(/^test-\d+\/scopes\/(?:(?:-|x?[0-9a-f]{32})\/){4}$/);
  });

  test("with a ref that was put into another scope's folder show it to nobody", async () => {
    const { PutObjectCommand, GetObjectCommand } = await import("@aws-sdk/client-s3");
    const { id } = await store.putText("planted", { scope: ADA });
    const [from, to] = [await store.keyPrefix(ADA), await store.keyPrefix({ user_id: "eve" })];
    const Bucket = "sluice-tests";
    const { Body } = await s3.client.send(new GetObjectCommand({ Bucket, Key: `${from}refs/${id}` }));
    const planted = { Bucket, Key: `${to}refs/${id}`, Body: (await Body?.transformToByteArray()) ?? "" };
    await s3.client.send(new PutObjectCommand(planted));
    await expect(store.get(id, { user_id: "eve" })).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
    const seen: string[] = [];
    for await (const artifact of store.list({ user_id: "eve" })) seen.push(artifact.id);
    expect(seen).toEqual([]);
  });
});

describe("a store by its URL", () => {
  test("is the one of that bucket and prefix", async () => {
    const named = s3StoreFrom(`s3://sluice-tests/${prefix}/`, { endpoint: s3.endpoint, credentials: CREDENTIALS });
    const { id } = await store.putText("by URL");
    expect(await named.exists(id)).toBe(true);
    await named.close();
  });

  test("is where the environment says", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL_S3", s3.endpoint);
    vi.stubEnv("AWS_ACCESS_KEY_ID", CREDENTIALS.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", CREDENTIALS.secretAccessKey);
    try {
      await using named = s3StoreFrom(`s3://sluice-tests/${prefix}`);
      const { id } = await named.putText("by environment");
      expect(await store.exists(id)).toBe(true);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
