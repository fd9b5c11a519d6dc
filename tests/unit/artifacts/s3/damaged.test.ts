import { beforeEach, describe, expect, test } from "vitest";
import type { S3ArtifactStore } from "../../../../web/src/s3.js";
import { drained, listed, same } from "../bytes.js";
import { noise } from "../noise.js";
import { FaultyS3, isReadOfBlob, twisted } from "./faulty-s3.js";

const service = FaultyS3.forTests();
const data = noise(300_000);
/** Through the proxy. */
let store: S3ArtifactStore;
/** Around it. */
let direct: S3ArtifactStore;
beforeEach(() => {
  store = service.store({ partBytes: 5 * 1024 * 1024 });
  direct = service.direct();
});

const failure = (work: Promise<unknown>): Promise<unknown> => service.failure(work);
const code = (name: string): unknown => expect.objectContaining({ name: "SluiceError", code: name }) as unknown;

/** The same, for services that are never heard of again. */
function impatient(): void {
  store = service.store({ timeoutMs: 300, slowestBytesPerSecond: 10_000_000 });
}

async function blobs(): Promise<readonly string[]> {
  return (await service.s3.keys(service.prefix)).filter((key) => key.includes("/blobs/"));
}

/** The next put writes the bytes again, and the damaged ones go. */
async function expectAfresh(): Promise<void> {
  const [before] = await blobs();
  await direct.putBytes(data);
  const [after, ...more] = await blobs();
  expect(after).not.toBe(before);
  expect(more).toEqual([]);
}

describe("bytes that do not come as they should", () => {
  test("one byte a second is given up", async () => {
    const { id } = await direct.putBytes(data);
    impatient();
    const timers: NodeJS.Timeout[] = [];
    service.proxy.set({
      after: (asked, { answer, response }) => {
        if (!isReadOfBlob(asked)) return false;
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        timers.push(setInterval(() => response.write("x"), 100));
        answer.resume();
        return true;
      },
    });
    expect(await failure(store.get(id))).toEqual(code("E_STORE_READ"));
    const stream = await store.openReader(id, { range: { start: 5 } });
    expect(await failure(drained(stream))).toEqual(code("E_STORE_READ"));
    timers.forEach(clearInterval);
  });

  test("a connection that breaks in the middle is followed by one from there", async () => {
    const { id } = await direct.putBytes(data);
    let broken = 0;
    service.proxy.set({
      after: (asked, { answer, response }) => {
        if (!isReadOfBlob(asked) || broken++ % 2 === 1) return false;
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.once("data", (piece: Buffer) => response.write(piece, () => response.destroy()));
        return true;
      },
    });
    expect(same(await store.get(id), data)).toBe(true);
    expect(same(await drained(await store.openReader(id, { range: { start: 10 } })), data.slice(10))).toBe(true);
    expect(broken).toBe(4);
  });

  test("one that breaks each time is given up", async () => {
    const { id } = await direct.putBytes(data);
    service.proxy.set({
      after: (asked, { answer, response }) => {
        if (!isReadOfBlob(asked)) return false;
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        response.write("xyz", () => response.destroy());
        return true;
      },
    });
    expect(await failure(store.get(id))).toEqual(code("E_STORE_READ"));
    expect(await failure(drained(await store.openReader(id)))).toEqual(code("E_STORE_READ"));
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["other bytes", (bytes) => Buffer.from(bytes.map((byte, at) => (at === 77 ? byte ^ 1 : byte)))],
    ["fewer bytes", (bytes) => bytes.subarray(1)],
    ["more bytes", (bytes) => Buffer.concat([bytes, Buffer.from("x")])],
    ["no bytes", () => Buffer.alloc(0)],
  ])("%s are told from those that were stored, and are written afresh by the next put", async (_, make) => {
    for (const read of [(id: string) => store.get(id), async (id: string) => drained(await store.openReader(id))]) {
      const { id } = await direct.putBytes(data);
      service.proxy.set(twisted(make));
      expect(await failure(read(id))).toEqual(code("E_STORE_CORRUPT"));
      await expectAfresh();
    }
  });

  test("another range than the one that was asked for is refused", async () => {
    const { id } = await direct.putBytes(data);
    service.proxy.set({
      after: (asked, { answer, response }) => {
        if (!isReadOfBlob(asked)) return false;
        response.writeHead(200, { ...answer.headers, "content-range": "bytes 0-299999/300000" });
        answer.pipe(response);
        return true;
      },
    });
    expect(await failure(store.openReader(id, { range: { start: 7, end: 9 } }))).toEqual(code("E_STORE_CORRUPT"));
  });

  test("a ref that is none, or another's, is refused", async () => {
    const { id } = await direct.putBytes(data);
    for (const text of ["{}", "no JSON", '{"form":1}', "\u0000", "[]", "null"]) {
      service.proxy.set({
        after: ({ path, method }, { answer, response }) => {
          if (method !== "GET" || !path.includes("/refs/")) return false;
          answer.resume();
          response.writeHead(200, { etag: '"x"', "content-length": text.length }).end(text);
          return true;
        },
      });
      expect(await failure(store.get(id))).toEqual(code("E_STORE_CORRUPT"));
      expect(await listed(store.list())).toEqual([]);
    }
  });
});
