/** Several machines at one bucket, and who died. */
import { createHash } from "node:crypto";
import { AbortMultipartUploadCommand, CreateMultipartUploadCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { S3ArtifactStore } from "../../../../web/src/s3.js";
import { dated, listed, same, streamed, noise } from "../bytes.js";
import { holds, step, type Step } from "../contract/model.js";
import { BUCKET, CREDENTIALS, TestS3 } from "./ceph.js";
import { FaultyProxy } from "./faulty-proxy.js";
import { amount } from "../../../support/full.js";

let s3: TestS3;
let prefix: string;
let stores: readonly S3ArtifactStore[];
let one: S3ArtifactStore;
let other: S3ArtifactStore;

beforeAll(async () => {
  s3 = await TestS3.started();
});
afterAll(() => s3[Symbol.asyncDispose]());
beforeEach(() => {
  prefix = s3.prefix();
  one = s3.store({ prefix, sweepAfter: 1 });
  other = s3.store({ prefix });
  stores = [one, other];
});
afterEach(() => Promise.all(stores.map((store) => store.close())));

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

test("while several processes store, read and delete the same, no ref is ever without its bytes", async () => {
  const damage: unknown[] = [];
  const hands = Array.from({ length: 5 }, async (_, hand) => {
    const store = stores[hand % 2] ?? one;
    for (let turn = 0; turn < 4; turn++) {
      const { id } = await store.putText("the same", { filename: `${hand}-${turn}` });
      if (hand % 3 === 0) await store.delete(id);
      else await store.get(id).catch((error: unknown) => damage.push(error));
    }
  });
  await Promise.all(hands);
  expect(damage).toEqual([]);
  const last = await one.putText("the same");
  expect(await other.get(last.id)).toEqual(text("the same"));
  await one.delete(last.id);
  for (const ref of await listed(one.list())) await one.delete(ref.id);
  expect(await s3.keys(prefix)).toEqual([]);
});

/** What the first does, somebody else sees and takes away. */
async function alternating(steps: readonly Step[]): Promise<void> {
  const place = s3.prefix();
  await using first = s3.store({ prefix: place });
  await using second = s3.store({ prefix: place });
  await holds(first, steps.slice(0, steps.length / 2));
  for (const ref of await listed(second.list())) expect(await second.delete(ref.id, ref.scope)).toBe(true);
  await holds(second, steps);
}

test("two stores do what the model does, one after the other", async () => {
  expect.hasAssertions();
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 16 }), alternating), { numRuns: amount(2, 5) });
});

test("of deletions on several machines, one is true", async () => {
  for (let round = 0; round < 5; round++) {
    const { id } = await one.putText("x");
    const outcomes = await Promise.all([...stores, ...stores].map((store) => store.delete(id)));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  }
});

test("updates at once are all kept", async () => {
  const { id } = await one.putText("x");
  await Promise.all([
    one.update(id, { filename: "named" }),
    other.update(id, { mime_type: "text/css" }),
    one.update(id, { source: { tool: "t" } }),
  ]);
  expect(await other.stat(id)).toMatchObject({ filename: "named", mime_type: "text/css", source: { tool: "t" } });
});

test("a later stamp is later on every machine", async () => {
  const ahead = s3.store({ prefix, clock: () => Date.now() + 500 });
  const { id } = await ahead.putText("x");
  const before = await one.stat(id);
  await one.get(id);
  expect((await one.stat(id))?.used_at).toBeGreaterThan(before?.used_at ?? 0);
  await ahead.close();
});

/** As somebody who died leaves the lock. */
async function held(until: number): Promise<void> {
  const Body = JSON.stringify({ holder: "dead", until });
  await s3.client.send(new PutObjectCommand({ Bucket: BUCKET, Key: `${prefix}/lock`, Body }));
}

test("exclusive work is done on one machine at a time, and the lock of one who died lapses", async () => {
  expect(await one.exclusively(() => other.exclusively(async () => "inner"))).toBeNull();
  expect(await other.exclusively(async () => "after")).toBe("after");
  await held(Date.now() + 60_000);
  expect(await one.exclusively(async () => "held")).toBeNull();
  expect(await one.gc()).toBeNull();
  await held(Date.now() - 1);
  expect(await one.exclusively(async () => "lapsed")).toBe("lapsed");
});

test("what those left behind who died is swept, and nothing else", async () => {
  const kept = await one.putBytes(noise(1000));
  const scope = { user_id: "ada" };
  const mine = await other.putBytes(noise(1000), { scope });
  const folder = await one.keyPrefix(scope);
  const dead = { Bucket: BUCKET, Key: `${folder}blobs/${"0".repeat(32)}` };
  await s3.client.send(new PutObjectCommand({ ...dead, Body: "x" }));
  const { UploadId } = await s3.client.send(new CreateMultipartUploadCommand(dead));
  const strange = { Bucket: BUCKET, Key: `${prefix}/notes.txt`, Body: "mine" };
  await s3.client.send(new PutObjectCommand(strange));

  const young = s3.store({ prefix });
  expect(await young.gc()).toEqual({ blobs: 0, uploads: 0, refs: 0 });
  await young.close();
  const past = s3.store({ prefix, sweepAfter: 1 });
  // The service's clock counts seconds.
  await expect.poll(() => past.gc(), { timeout: 20_000, interval: 200 }).toEqual({ blobs: 1, uploads: 1, refs: 0 });
  await past.close();
  await expect(
    s3.client.send(new AbortMultipartUploadCommand({ ...dead, UploadId: UploadId ?? "" })),
  ).rejects.toMatchObject({ name: "NoSuchUpload" });
  expect(await s3.keys(prefix)).toContain("notes.txt");
  expect(await listed(one.list())).toEqual([kept, mine]);
  expect(same(await one.get(mine.id, scope), noise(1000))).toBe(true);
});

test("a deletion that somebody did not live to end is over for everyone, and is ended by the next sweep", async () => {
  const { id } = await one.putText("x");
  await using proxy = await FaultyProxy.before(s3.endpoint);
  proxy.set({ before: ({ method }, response) => method === "DELETE" && response.destroy() === response });
  const dying = s3.store({ prefix, endpoint: proxy.endpoint, maxAttempts: 1, timeoutMs: 300 });
  expect(await dying.delete(id)).toBe(true);
  await dying.close();
  expect(await one.get(id)).toBeNull();
  expect(await one.exists(id)).toBe(false);
  expect(await one.update(id, { filename: "x" })).toBeNull();
  expect(await listed(one.list())).toEqual([]);
  // Until it is swept, the same content has a longer id.
  const again = await one.putText("x");
  expect(again.id.length).toBeGreaterThan(id.length);
  expect(await one.get(again.id)).toEqual(text("x"));
  await expect.poll(() => one.gc(), { timeout: 20_000, interval: 200 }).toMatchObject({ refs: 1 });
  expect((await one.putText("y")).size_bytes).toBe(1);
  expect((await one.putText("x")).id).toBe(id);
});

test("bytes that were deleted outside are reported, and written by the next put", async () => {
  const { id } = await one.putText("x");
  const [key = ""] = (await s3.keys(prefix)).filter((each) => each.includes("/blobs/"));
  const { DeleteObjectCommand } = await import("@aws-sdk/client-s3");
  await s3.client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: `${prefix}/${key}` }));
  await expect(one.get(id)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
  await expect(other.openReader(id)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
  await other.putText("x");
  expect(await one.get(id)).toEqual(text("x"));
});

test("96 MiB go in and out by parts, in constant memory, and come out whole after they were deleted", async () => {
  const MIB = 1024 * 1024;
  const chunk = new Uint8Array(48 * 1024);
  const hash = { in: createHash("sha256"), out: createHash("sha256") };
  const settled = await streamed(one, noise(20 * MIB), [MIB]);
  await one.get(settled.id);
  const before = process.memoryUsage.rss();
  let peak = 0;
  const writer = await one.openWriter();
  for (let at = 0, turn = 0; at < 96 * MIB; at += chunk.byteLength, turn++) {
    hash.in.update(chunk.fill(turn));
    await writer.write(chunk);
    if (turn % 64 === 0) peak = Math.max(peak, process.memoryUsage.rss());
  }
  const { id } = await writer.close();
  const stream = await one.openReader(id);
  await other.delete(id);
  let pieces = 0;
  for await (const piece of stream ?? []) {
    hash.out.update(piece);
    if (pieces++ % 64 === 0) peak = Math.max(peak, process.memoryUsage.rss());
  }
  expect(hash.out.digest("hex")).toBe(hash.in.digest("hex"));
  expect(peak - before).toBeLessThan(40 * MIB);
});

test.each([
  ["abort", "abort"],
  ["disposal", Symbol.asyncDispose],
] as const)("an upload in parts that ends by %s is gone", async (_, end) => {
  const writer = await one.openWriter();
  const data = noise(9_000_000);
  for (let turn = 0; turn < 3; turn++) await writer.write(data);
  expect(await s3.uploads(prefix)).toBe(1);
  await writer[end]();
  expect(await s3.uploads(prefix)).toBe(0);
  expect(await s3.keys(prefix)).toEqual([]);
});

test("stores of other prefixes share nothing", async () => {
  const far = s3.store();
  const { id } = await one.putText("x");
  expect(await far.get(id)).toBeNull();
  expect(await dated(far.list())).toEqual([]);
  await far.close();
});

test("a client of the host's is used, and left open", async () => {
  const store = s3.store({ prefix, client: s3.client, endpoint: undefined as never, credentials: undefined as never });
  const ref = await streamed(store, noise(9_000_000), [1_000_000]);
  await store.close();
  await expect(store.get(ref.id)).rejects.toMatchObject({ code: "E_STORE_CLOSED" });
  expect(await s3.keys(prefix)).toHaveLength(2);
  expect(CREDENTIALS.accessKeyId).toBe((await s3.client.config.credentials()).accessKeyId);
});
