import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { S3ArtifactStore } from "../../../../web/src/s3.js";
import { dated, drained, listed, same, streamed } from "../bytes.js";
import { noise } from "../noise.js";
import { TestS3, BUCKET, CREDENTIALS } from "./ceph.js";
import { FaultyProxy, refuse, type Asked, type Fault } from "./faulty-proxy.js";

let s3: TestS3;
let proxy: FaultyProxy;
let prefix: string;
/** Through the proxy. */
let store: S3ArtifactStore;
/** Around it. */
let direct: S3ArtifactStore;

beforeAll(async () => {
  s3 = await TestS3.started();
  proxy = await FaultyProxy.before(s3.endpoint);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});
beforeEach(() => {
  proxy.set({});
  prefix = s3.prefix();
  store = s3.store({ prefix, endpoint: proxy.endpoint, maxAttempts: 2, partBytes: 5 * 1024 * 1024 });
  direct = s3.store({ prefix });
});
afterEach(async () => {
  await store.close();
  await direct.close();
});

/** The same, for services that are never heard of again. */
async function impatient(): Promise<void> {
  await store.close();
  const limits = { timeoutMs: 300, slowestBytesPerSecond: 10_000_000 };
  store = s3.store({ prefix, endpoint: proxy.endpoint, maxAttempts: 2, ...limits });
}

const isBlob = ({ path }: Asked): boolean => path.includes("/blobs/");
const isReadOfBlob = (asked: Asked): boolean => asked.method === "GET" && isBlob(asked);
const isWriteOfRef = ({ method, path }: Asked): boolean => method === "PUT" && path.includes("/refs/");
const data = noise(300_000);

/** Nothing of what it is about shows in an error, however deep one looks. */
function expectMute(error: unknown): void {
  const shown = inspect(error, { depth: 20, showHidden: true });
  for (const secret of [BUCKET, prefix, "127.0.0.1", CREDENTIALS.accessKeyId, CREDENTIALS.secretAccessKey, "ada"]) {
    expect(shown).not.toContain(secret);
  }
}

async function failure(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expectMute(error);
  return error;
}

const code = (name: string): unknown => expect.objectContaining({ name: "SluiceError", code: name }) as unknown;

/** Whole answers with other bytes. */
const twisted = (make: (bytes: Buffer) => Buffer): Fault => ({
  after: (asked, { answer, response }) => {
    if (!isReadOfBlob(asked)) return false;
    const pieces: Buffer[] = [];
    answer.on("data", (piece: Buffer) => pieces.push(piece));
    answer.on("end", () => {
      const bytes = make(Buffer.concat(pieces));
      response.writeHead(answer.statusCode ?? 500, { ...answer.headers, "content-length": bytes.byteLength });
      response.end(bytes);
    });
    return true;
  },
});

/** The next put writes the bytes again, and the damaged ones go. */
async function expectAfresh(): Promise<void> {
  const [before] = (await s3.keys(prefix)).filter((key) => key.includes("/blobs/"));
  await direct.putBytes(data);
  const [after, ...more] = (await s3.keys(prefix)).filter((key) => key.includes("/blobs/"));
  expect(after).not.toBe(before);
  expect(more).toEqual([]);
}

/** The service does what it was asked, and nobody hears of it. */
const deaf = (which: (asked: Asked) => boolean): Fault => {
  let done = false;
  return {
    after: (asked, { answer, response }) => {
      if (done || !which(asked)) return false;
      done = true;
      answer.resume();
      response.destroy();
      return true;
    },
  };
};

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
    await impatient();
    proxy.set(fault);
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
      proxy.set({ before: ({ method }, response) => method === "PUT" && refuse(response, status, name) });
      expect(same(await store.get(id), data)).toBe(true);
    }
    expect(await failure(store.putText("x"))).toEqual(code("E_STORE_FULL"));
  });

  test("that is none at all is not taken for an empty one", async () => {
    const page: Fault = { before: (_, response) => response.writeHead(404).end("<h1>Not found</h1>") === response };
    const { id } = await direct.putBytes(data);
    proxy.set(page);
    expect(await failure(store.get(id))).toEqual(code("E_STORE_READ"));
    expect(await failure(store.delete(id))).toEqual(code("E_STORE_WRITE"));
  });

  test("that answers 503 once is asked again", async () => {
    proxy.set({ before: ({ turn }, response) => turn === 0 && refuse(response, 503, "SlowDown") });
    const { id } = await store.putBytes(data);
    expect(same(await store.get(id), data)).toBe(true);
  });

  test("that does not know the key says who is not let in", async () => {
    const stranger = s3.store({ credentials: { ...CREDENTIALS, secretAccessKey: "another" } });
    expect(await failure(stranger.putText("x"))).toEqual(code("E_STORE_DENIED"));
    expect(await failure(stranger.get("artifact_0123456789ab"))).toEqual(code("E_STORE_DENIED"));
    await stranger.close();
  });

  test("that has no such bucket says so", async () => {
    const lost = s3.store({ bucket: "there-is-none" });
    expect(await failure(lost.putText("x"))).toMatchObject({
      code: "E_STORE_WRITE",
      message: expect.stringContaining("no such bucket") as unknown,
    });
    expect(await failure(lost.get("artifact_0123456789ab"))).toMatchObject({ code: "E_STORE_READ" });
    await lost.close();
  });
});

describe("bytes that do not come as they should", () => {
  test("one byte a second is given up", async () => {
    const { id } = await direct.putBytes(data);
    await impatient();
    const timers: NodeJS.Timeout[] = [];
    proxy.set({
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
    proxy.set({
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
    proxy.set({
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
      proxy.set(twisted(make));
      expect(await failure(read(id))).toEqual(code("E_STORE_CORRUPT"));
      await expectAfresh();
    }
  });

  test("another range than the one that was asked for is refused", async () => {
    const { id } = await direct.putBytes(data);
    proxy.set({
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
      proxy.set({
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

describe("answers that are lost on their way", () => {
  test.each<[string, (asked: Asked) => boolean]>([
    ["a ref was written", isWriteOfRef],
    ["a blob was written", (asked) => asked.method === "PUT" && isBlob(asked)],
  ])("after %s the artifact is there once", async (_, which) => {
    proxy.set(deaf(which));
    const ref = await store.putBytes(data);
    expect(await listed(direct.list())).toEqual([ref]);
    expect(same(await direct.get(ref.id), data)).toBe(true);
    expect(await s3.keys(prefix)).toHaveLength(2);
  });

  test.each<[string, (asked: Asked) => boolean]>([
    ["a part", ({ method, path }) => method === "PUT" && path.includes("partNumber=1")],
    ["the end", ({ method, path }) => method === "POST" && path.includes("uploadId=")],
  ])("after %s of an upload in parts the artifact is whole", async (_, which) => {
    proxy.set(deaf(which));
    const large = noise(11_000_000);
    const ref = await streamed(store, large, [700_000]);
    expect(same(await direct.get(ref.id), large)).toBe(true);
    expect(await s3.uploads(prefix)).toBe(0);
  });

  test("after a deletion it is gone, and one of two deleted it", async () => {
    const { id } = await direct.putBytes(data);
    proxy.set(deaf(({ method, path }) => method === "DELETE" && path.includes("/refs/")));
    expect(await store.delete(id)).toBe(true);
    expect(await direct.delete(id)).toBe(false);
    expect(await direct.get(id)).toBeNull();
  });

  test("a write of which nobody knows whether it came to be leaves no ref without its bytes", async () => {
    proxy.set({
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
  proxy.set({
    before: ({ method, path }, response) =>
      (method === "PUT" || method === "POST") && path.includes(mark) && refuse(response, 500, "InternalError"),
  });
  expect(await failure(streamed(store, noise(11_000_000), [700_000]))).toEqual(code("E_STORE_WRITE"));
  expect(await s3.uploads(prefix)).toBe(0);
  expect(await s3.keys(prefix)).toEqual([]);
});
