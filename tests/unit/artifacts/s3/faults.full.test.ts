import { S3Client } from "@aws-sdk/client-s3";
import { beforeEach, describe, expect, test } from "vitest";
import type { S3ArtifactStore } from "../../../../web/src/s3.js";
import { dated, listed, same, streamed, drained, noise } from "../bytes.js";
import { CREDENTIALS } from "./ceph.js";
import { refuse, type Asked, type Fault } from "./faulty-proxy.js";
import { FaultyS3, deaf, isBlob, isReadOfBlob, twisted } from "./faulty-s3.js";

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
const isWriteOfRef = ({ method, path }: Asked): boolean => method === "PUT" && path.includes("/refs/");

/** The same, for services that are never heard of again. */
function impatient(): void {
  store = service.store({ timeoutMs: 300, slowestBytesPerSecond: 10_000_000 });
}

function artifactless(): never {
  throw new Error("nothing is there");
}

describe("a service that is out of order", () => {
  const faults: [string, Fault][] = [
    ["answers 503", { before: (_, response) => refuse(response, 503, "SlowDown") }],
    ["answers 500", { before: (_, response) => refuse(response, 500, "InternalError") }],
    ["never answers", { before: () => true }],
    ["hangs up", { before: (_, response) => response.destroy() === response }],
    [
      "answers with what is no answer",
      { before: (_, response) => response.writeHead(400, { "content-type": "text/html" }).end("<h1>") === response },
    ],
  ];

  test.each(faults)("that %s fails every call in bounded time", async (_, fault) => {
    const scope = { user_id: "ada" };
    const { id } = await direct.putBytes(data, { scope });
    const [seen = artifactless()] = await dated(direct.list(scope));
    impatient();
    service.proxy.set(fault);
    const reads = [store.get(id, scope), store.stat(id, scope), store.openReader(id, { scope }), listed(store.list())];
    expect(await Promise.all(reads.map(failure))).toEqual(reads.map(() => code("E_STORE_READ")));
    const writes = [
      store.putText("x"),
      streamed(store, noise(9_000_000), [500_000]),
      store.delete(id, scope),
      store.update(id, {}, scope),
      store.evict(seen),
    ];
    expect(await Promise.all(writes.map(failure))).toEqual(writes.map(() => code("E_STORE_WRITE")));
    expect(await direct.stat(id, scope)).toEqual(seen);
  });

  test("that takes no writes any more can still be read", async () => {
    const { id } = await direct.putBytes(data);
    for (const [status, name] of [
      [403, "AccessDenied"],
      [503, "SlowDown"],
      [507, "QuotaExceeded"],
    ] as const) {
      service.proxy.set({ before: ({ method }, response) => method === "PUT" && refuse(response, status, name) });
      expect(same(await store.get(id), data)).toBe(true);
    }
    expect(await failure(store.putText("x"))).toEqual(code("E_STORE_FULL"));
  });

  test("that is none at all is not taken for an empty one", async () => {
    const page: Fault = { before: (_, response) => response.writeHead(404).end("<h1>Not found</h1>") === response };
    const { id } = await direct.putBytes(data);
    service.proxy.set(page);
    expect(await failure(store.get(id))).toEqual(code("E_STORE_READ"));
    expect(await failure(store.delete(id))).toEqual(code("E_STORE_WRITE"));
  });

  test("that answers 503 once is asked again", async () => {
    service.proxy.set({ before: ({ turn }, response) => turn === 0 && refuse(response, 503, "SlowDown") });
    const { id } = await store.putBytes(data);
    expect(same(await store.get(id), data)).toBe(true);
  });

  test("that refuses an hour of another clock is asked again, for each of many requests at once", async () => {
    const { id } = await direct.putBytes(data);
    const { endpoint } = service.s3;
    const where = { endpoint, region: "us-east-1", forcePathStyle: true, credentials: CREDENTIALS };
    const client = new S3Client({ ...where, systemClockOffset: 60 * 60 * 1000 });
    const early = service.s3.store({ prefix: service.prefix, client });
    const read = await Promise.all(Array.from({ length: 16 }, () => early.get(id)));
    for (const bytes of read) expect(same(bytes, data)).toBe(true);
    expect(client.config.systemClockOffset).toBeLessThan(60 * 1000);
    await early.close();
    client.destroy();
  });

  test("that is asked while the store is closed is not what failed", async () => {
    const { id } = await direct.putBytes(data);
    service.proxy.set({ before: () => true });
    const reads = [store.get(id), listed(store.list())];
    await expect.poll(() => service.proxy.seen.length).toBeGreaterThan(0);
    await store.close();
    expect(await Promise.all(reads.map(failure))).toEqual(reads.map(() => code("E_STORE_CLOSED")));
  });

  test("that does not know the key says who is not let in", async () => {
    const stranger = service.s3.store({ credentials: { ...CREDENTIALS, secretAccessKey: "another" } });
    expect(await failure(stranger.putText("x"))).toEqual(code("E_STORE_DENIED"));
    expect(await failure(stranger.get("artifact_0123456789ab"))).toEqual(code("E_STORE_DENIED"));
    await stranger.close();
  });

  test("that has no such bucket says so", async () => {
    const lost = service.s3.store({ bucket: "there-is-none" });
    expect(await failure(lost.putText("x"))).toMatchObject({
      code: "E_STORE_WRITE",
      message: expect.stringContaining("no such bucket") as unknown,
    });
    expect(await failure(lost.get("artifact_0123456789ab"))).toMatchObject({ code: "E_STORE_READ" });
    await lost.close();
  });
});

describe("answers that are lost on their way", () => {
  test.each<[string, (asked: Asked) => boolean]>([
    ["a ref was written", isWriteOfRef],
    ["a blob was written", (asked) => asked.method === "PUT" && isBlob(asked)],
  ])("after %s the artifact is there once", async (_, which) => {
    service.proxy.set(deaf(which));
    const ref = await store.putBytes(data);
    expect(await listed(direct.list())).toEqual([ref]);
    expect(same(await direct.get(ref.id), data)).toBe(true);
    expect(await service.s3.keys(service.prefix)).toHaveLength(2);
  });

  test.each<[string, (asked: Asked) => boolean]>([
    ["a part", ({ method, path }) => method === "PUT" && path.includes("partNumber=1")],
    ["the end", ({ method, path }) => method === "POST" && path.includes("uploadId=")],
  ])("after %s of an upload in parts the artifact is whole", async (_, which) => {
    service.proxy.set(deaf(which));
    const large = noise(11_000_000);
    const ref = await streamed(store, large, [700_000]);
    expect(same(await direct.get(ref.id), large)).toBe(true);
    expect(await service.s3.uploads(service.prefix)).toBe(0);
  });

  test("after a deletion it is gone, and one of two deleted it", async () => {
    const { id } = await direct.putBytes(data);
    service.proxy.set(deaf(({ method, path }) => method === "DELETE" && path.includes("/refs/")));
    expect(await store.delete(id)).toBe(true);
    expect(await direct.delete(id)).toBe(false);
    expect(await direct.get(id)).toBeNull();
  });

  test("a write with an unknown outcome leaves no ref without its bytes", async () => {
    service.proxy.set({
      after: (asked, { answer, response }) => {
        if (!isWriteOfRef(asked)) return false;
        answer.resume();
        response.destroy();
        return true;
      },
      before: ({ method, path, turn }, response) =>
        turn > 2 && method === "GET" && path.includes("/refs/") && refuse(response, 503, "SlowDown"),
    });
    expect(await failure(store.putBytes(data))).toEqual(expect.objectContaining({ name: "SluiceError" }));
    const [ref] = await listed(direct.list());
    expect(same(await direct.get(ref?.id ?? ""), data)).toBe(true);
  });
});

test.each([
  ["the first part", "partNumber=1"],
  ["the last part", "partNumber=3"],
  ["the end", "uploadId"],
])("an upload in parts that fails at %s leaves nothing behind", async (_, mark) => {
  service.proxy.set({
    before: ({ method, path }, response) =>
      (method === "PUT" || method === "POST") && path.includes(mark) && refuse(response, 500, "InternalError"),
  });
  expect(await failure(streamed(store, noise(11_000_000), [700_000]))).toEqual(code("E_STORE_WRITE"));
  expect(await service.s3.uploads(service.prefix)).toBe(0);
  expect(await service.s3.keys(service.prefix)).toEqual([]);
});

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
