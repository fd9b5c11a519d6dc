/** Bytes as stores take them, hash them and give them back: what is read again is checked. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { toChunks, type Uploaded } from "../../../web/src/artifacts/bytes.js";
import { sha256 as nodeHash } from "../../../web/src/artifacts/hash-node.js";
import { sha256 as webHash } from "../../../web/src/artifacts/hash-web.js";
import { serialHash, type ParallelHash, verifyStream } from "../../../web/src/artifacts/hash.js";
import { Copies, PrivateFolder } from "../../../web/src/artifacts/private-folder.js";
import { toClaim, toRef } from "../../../web/src/artifacts/reference.js";
import type { ArtifactRef } from "../../../web/src/artifacts/store.js";
import { type ByteSink, SinkWriter } from "../../../web/src/artifacts/writer.js";
import { MemoryArtifactStore, type StoredArtifact } from "../../../web/src/index.js";
import { noise } from "./bytes.js";

const MIB = 1024 * 1024;

test.each([
  ["node", nodeHash],
  ["web", webHash],
])("%s: whole and in pieces, small and past what WebCrypto is given", async (_, hashing) => {
  for (const length of [0, 1, 55, 56, 64, 100_000, 8 * MIB, 8 * MIB + 1]) {
    const data = noise(length);
    const expected = createHash("sha256").update(data).digest("hex");
    expect(await hashing.whole(data)).toBe(expected);
    expect(await hashing.whole(new Uint8Array([9, ...data.subarray(0, 50)]).subarray(1))).toBe(
      createHash("sha256").update(data.subarray(0, 50)).digest("hex"),
    );
    const hash = await hashing.stream();
    const reused = new Uint8Array(70_001);
    for (let at = 0; at < length; at += reused.byteLength) {
      const piece = data.subarray(at, at + reused.byteLength);
      reused.set(piece);
      hash.update(reused.subarray(0, piece.byteLength));
      reused.fill(0);
    }
    expect(hash.digest()).toBe(expected);
  }
});

test("hashes in progress do not mix", async () => {
  const [one, two] = [await webHash.stream(), await webHash.stream()];
  one.update(new Uint8Array([1]));
  two.update(new Uint8Array([2]));
  expect(one.digest()).toBe(await nodeHash.whole(new Uint8Array([1])));
  expect(two.digest()).toBe(await nodeHash.whole(new Uint8Array([2])));
});

const NOTHING = new Uint8Array(0);

describe.each<[string, () => Promise<ParallelHash | undefined>]>([
  ["another", async () => nodeHash.parallel?.()],
  ["this", () => serialHash(webHash)],
])("a hash in %s thread", (_, begin) => {
  test("is that of its pieces, and each piece comes back as it was", async () => {
    const hash = await begin();
    const data = noise(2 * MIB);
    const pieces = [0, 1, 70_000, MIB, 2 * MIB].map((at, index, all) => data.slice(at, all[index + 1]));
    const back = await Promise.all(pieces.map(async (piece) => hash?.update(piece.slice())));
    // Compared byte by byte by the matcher, two megabytes take ten seconds.
    expect(back.map((piece, at) => Buffer.compare(piece ?? NOTHING, pieces[at] ?? NOTHING))).toEqual(
      pieces.map(() => 0),
    );
    expect(await hash?.digest()).toBe(await nodeHash.whole(data));
  });

  test("is none of another's business, whether that goes on or is given up", async () => {
    const [one, other, third] = [await begin(), await begin(), await begin()];
    void one?.update(new Uint8Array([1]));
    void other?.update(new Uint8Array([2]));
    void third?.update(new Uint8Array([3]));
    other?.discard();
    void one?.update(new Uint8Array([4]));
    expect(await third?.digest()).toBe(await nodeHash.whole(new Uint8Array([3])));
    expect(await one?.digest()).toBe(await nodeHash.whole(new Uint8Array([1, 4])));
  });
});

describe("a program that stores much", () => {
  const library = new URL("../../../dist/node.js", import.meta.url).href;
  const program = `
    const { FileArtifactStore } = await import(${JSON.stringify(library)});
    const { sha256 } = await new FileArtifactStore(process.argv[1]).putBytes(new Uint8Array(5_000_000));
    console.log(sha256);`;
  const expected = createHash("sha256").update(new Uint8Array(5_000_000)).digest("hex");

  test.each([
    ["ends when it is stored, and not before", []],
    [
      "needs no thread where it may start none",
      ["--experimental-permission", "--allow-fs-read=*", "--allow-fs-write=*"],
    ],
  ])("%s", async (_, flags) => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-hash-"));
    const { status, stdout } = spawnSync(process.execPath, [...flags, "--input-type=module", "-e", program, folder], {
      encoding: "utf8",
    });
    await rm(folder, { recursive: true });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${expected}\n` });
  });
});

test("bytes in shared memory are hashed too", async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(3));
  shared.set([1, 2, 3]);
  expect(await webHash.whole(shared)).toBe(await nodeHash.whole(new Uint8Array([1, 2, 3])));
});

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

async function textOf(data: Uploaded): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of toChunks(data)) chunks.push(chunk);
  return new Response(new Blob(chunks as BlobPart[])).text();
}

async function* inPieces(): AsyncIterable<Uint8Array> {
  yield utf8("one ");
  yield utf8("zwölf");
}

test.each<[string, () => Uploaded]>([
  ["a text", () => "one zwölf"],
  ["bytes", () => utf8("one zwölf")],
  ["an async iterable", inPieces],
  ["a list", () => [utf8("one "), utf8("zwölf")] as unknown as Uploaded],
  ["a stream", () => new Blob(["one zwölf"]).stream()],
])("%s comes chunk by chunk", async (_, data) => {
  expect(await textOf(data())).toBe("one zwölf");
});

test.each([undefined, null, 7, {}, true])("what is no upload is refused before it is read: %j", (data) => {
  expect(() => toChunks(data as never)).toThrow("data must be a Uint8Array, a string, or a stream of Uint8Arrays");
});

test("a stream that is read no further is let go", async () => {
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(utf8("x")),
    cancel: () => void (isCancelled = true),
  });
  for await (const chunk of toChunks(endless)) {
    expect(chunk).toEqual(utf8("x"));
    break;
  }
  expect(isCancelled).toBe(true);
});

/** A stream of `data` in pieces of these sizes, then of what is left. */
function streamOf(
  data: Uint8Array,
  sizes: readonly number[],
  onCancel = (): void => undefined,
): ReadableStream<Uint8Array> {
  let at = 0;
  const left = [...sizes];
  return new ReadableStream<Uint8Array>(
    {
      pull(controller): void {
        const size = left.shift() ?? data.length - at;
        if (at < data.length) controller.enqueue(data.slice(at, (at += size)));
        else controller.close();
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  );
}

interface Drained {
  readonly bytes: Buffer;
  readonly failure: unknown;
}

async function drained(stream: ReadableStream<Uint8Array>): Promise<Drained> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of stream) pieces.push(piece);
  } catch (failure) {
    return { bytes: Buffer.concat(pieces), failure };
  }
  return { bytes: Buffer.concat(pieces), failure: undefined };
}

async function checked(data: Uint8Array, expected: Uint8Array, sizes: readonly number[]): Promise<Drained> {
  const said = { sha256: await nodeHash.whole(expected), size_bytes: expected.length };
  return drained(await verifyStream(streamOf(data, sizes), said, nodeHash));
}

const CORRUPT = {
  name: "SluiceError",
  code: "E_STORE_CORRUPT",
  message: expect.stringContaining("delete the artifact"),
};

describe("a checked stream", () => {
  test("gives what was stored, in any pieces", async () => {
    const property = fc.asyncProperty(fc.nat(5_000), fc.array(fc.nat(900), { maxLength: 12 }), async (size, sizes) => {
      const data = noise(size);
      const { bytes, failure } = await checked(data, data, sizes);
      expect(failure).toBeUndefined();
      expect(bytes.equals(data)).toBe(true);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  test("never gives the end of anything else: changed, longer or shorter", async () => {
    const damage = fc.constantFrom<(data: Uint8Array, at: number) => Uint8Array>(
      (data, at) => data.with(at, (data[at] ?? 0) ^ 1),
      (data) => Buffer.concat([data, Buffer.of(0)]),
      (data) => data.subarray(0, -1),
      () => new Uint8Array(0),
    );
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 5_000 }),
      fc.nat(),
      fc.array(fc.nat(900), { maxLength: 12 }),
      damage,
      async (size, at, sizes, damaging) => {
        const data = noise(size);
        const { bytes, failure } = await checked(damaging(data, at % size), data, sizes);
        expect(failure).toMatchObject(CORRUPT);
        expect(bytes.length).toBeLessThan(size);
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  test("gives nothing at all of a small content that is damaged", async () => {
    const { bytes, failure } = await checked(noise(1_000, 2), noise(1_000), []);
    expect(failure).toMatchObject(CORRUPT);
    expect(bytes).toHaveLength(0);
  });

  test("lets go of its source, and tells, before it fails", async () => {
    const [onCancel, onDamage] = [
      vi.fn<() => void>(),
      vi.fn<() => Promise<void>>(() => Promise.reject(new Error("busy"))),
    ];
    const said = { sha256: "0".repeat(64), size_bytes: 10 };
    const { failure } = await drained(await verifyStream(streamOf(noise(10), [4], onCancel), said, nodeHash, onDamage));
    expect(failure).toMatchObject(CORRUPT);
    expect(onCancel).toHaveBeenCalledOnce();
    expect(onDamage).toHaveBeenCalledOnce();
  });

  test("is read no faster than it is asked, and passes a cancel and a failure on", async () => {
    const onCancel = vi.fn<() => void>();
    const said = { sha256: await nodeHash.whole(noise(10)), size_bytes: 10 };
    const reader = (await verifyStream(streamOf(noise(10), [4], onCancel), said, nodeHash)).getReader();
    expect((await reader.read()).value).toHaveLength(4);
    await reader.cancel();
    expect(onCancel).toHaveBeenCalledOnce();
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("EIO")) });
    const { failure } = await drained(await verifyStream(broken, said, nodeHash));
    expect(failure).toMatchObject({ message: "EIO" });
  });
});

/** A disk with room for three bytes. */
class SmallSink implements ByteSink {
  readonly calls: string[] = [];
  #room = 3;
  readonly #slow: boolean;

  constructor(slow: boolean) {
    this.#slow = slow;
  }

  write(chunk: Uint8Array): Promise<void> | undefined {
    this.calls.push(`write ${chunk.join()}`);
    const take = (): void => {
      this.#room -= chunk.byteLength;
      if (this.#room < 0) throw Object.assign(new Error("no space left on /secret"), { code: "ENOSPC" });
    };
    if (this.#slow) return new Promise((resolve) => setTimeout(resolve, 2)).then(take);
    take();
    return undefined;
  }

  commit(): Promise<ArtifactRef> {
    this.calls.push("commit");
    return Promise.resolve(toRef(toClaim(), "artifact_000000000000", "0".repeat(64), 3 - this.#room));
  }

  discard(): Promise<void> {
    this.calls.push("discard");
    return Promise.resolve();
  }
}

const byte = (value: number): Uint8Array => new Uint8Array([value]);
const full = { code: "E_STORE_FULL" };

describe.each([{ slow: false }, { slow: true }])("over a sink, slow: $slow", ({ slow }) => {
  test("a failure stays, is coded, and throws away what was written", async () => {
    const mine = new SmallSink(slow);
    const failing = new SinkWriter(mine);
    for (const value of [1, 2, 3]) await failing.write(byte(value));
    await expect(failing.write(byte(4))).rejects.toMatchObject(full);
    expect(mine.calls.at(-1)).toBe("discard");
    await expect(failing.write(byte(5))).rejects.toMatchObject(full);
    await expect(failing.close()).rejects.toMatchObject(full);
    await expect(failing.close()).rejects.toMatchObject(full);
    await failing.abort();
    expect(mine.calls).toEqual(["write 1", "write 2", "write 3", "write 4", "discard"]);
  });

  test("writes that are not awaited are in order, and fail at close", async () => {
    const mine = new SmallSink(slow);
    const failing = new SinkWriter(mine);
    for (const value of [1, 2, 3, 4, 5]) void failing.write(byte(value)).catch(() => undefined);
    await expect(failing.close()).rejects.toMatchObject(full);
    expect(mine.calls).toEqual(["write 1", "write 2", "write 3", "write 4", "discard"]);
  });

  test("an abort waits for what is in flight", async () => {
    const mine = new SmallSink(slow);
    const aborted = new SinkWriter(mine);
    const flying = aborted.write(byte(1));
    await Promise.all([aborted.abort(), aborted.abort()]);
    await flying;
    await expect(aborted.write(byte(2))).rejects.toMatchObject({ code: "E_STORE_CLOSED" });
    await expect(aborted.close()).rejects.toMatchObject({ code: "E_STORE_CLOSED" });
    expect(mine.calls).toEqual(["write 1", "discard"]);
  });

  test("an abort after close changes nothing", async () => {
    const mine = new SmallSink(slow);
    const closed = new SinkWriter(mine);
    void closed.write(byte(1));
    const closing = closed.close();
    await closed.abort();
    expect(await closing).toMatchObject({ size_bytes: 1 });
    expect(mine.calls).toEqual(["write 1", "commit"]);
  });
});

/** Copies of artifacts as files, and the folders that they are in. */
describe("copies for tools that want a path", () => {
  it("are read-only, named like the artifact as far as that is safe, and go at the end", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putText("hello", { filename: "../../etc/pass wd;.txt" });
    const ref = await store.stat(id);
    if (ref === null) throw new Error("not stored");
    let path: string;
    {
      await using copies = new Copies(store);
      path = await copies.write(ref);
      expect(path).toMatch(/sluice-copies-\d+-\w+[/\\]file-\w+[/\\]_.._etc_pass_wd_.txt$|etc_pass_wd_\.txt$/);
      expect(await readFile(path, "utf8")).toBe("hello");
      expect((await stat(path)).mode & 0o777).toBe(0o400);
      expect(await copies.write(ref)).not.toBe(path);
    }
    await expect(access(path)).rejects.toThrow("ENOENT");
  });
});

/** A store with one artifact, and what is known of it. */
async function stored(): Promise<{ store: MemoryArtifactStore; ref: StoredArtifact }> {
  const store = new MemoryArtifactStore();
  const { id } = await store.putText("hello", { filename: "a.txt" });
  const ref = await store.stat(id);
  if (ref === null) throw new Error("not stored");
  return { store, ref };
}

describe("a copy is not written", () => {
  it("once it is closed, nor finished when that comes first", async () => {
    const { store, ref } = await stored();
    const open = store.openReader.bind(store);
    let begun: (() => void) | undefined;
    const reading = new Promise<void>((resolve) => (begun = resolve));
    let goOn: (() => void) | undefined;
    store.openReader = async (...given) => {
      begun?.();
      await new Promise<void>((resolve) => (goOn = resolve));
      return open(...given);
    };
    const copies = new Copies(store);
    const copy = copies.write(ref);
    copy.catch(() => undefined);
    await reading;
    await copies[Symbol.asyncDispose]();
    goOn?.();
    await expect(copy).rejects.toThrow("was closed");
    await expect(copies.write(ref)).rejects.toThrow("was closed");
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith(`sluice-copies-${process.pid}-`));
    expect(left).toEqual([]);
  });

  it("for a caller who gave up", async () => {
    const { store, ref } = await stored();
    await using copies = new Copies(store);
    await expect(copies.write(ref, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });

  it("of more than the store said that there is", async () => {
    const { store, ref } = await stored();
    await using copies = new Copies(store);
    await expect(copies.write({ ...ref, size_bytes: 3 })).resolves.toBeDefined();
    const endless = new ReadableStream<Uint8Array>({ pull: (stream) => stream.enqueue(new Uint8Array(1000)) });
    store.openReader = async () => endless;
    await expect(copies.write(ref)).rejects.toMatchObject({ code: "E_STORE_READ" });
  });
});

test("what a killed process left is removed by the next", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const left = await mkdtemp(join(tmpdir(), `sluice-copies-${pid}-`));
  await using folder = await PrivateFolder.open("session");
  await expect(access(left)).rejects.toThrow("ENOENT");
  await access(folder.path);
});
