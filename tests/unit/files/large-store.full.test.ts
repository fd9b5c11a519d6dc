/** Both sides of the size limit: a store of one's own, and a real S3 service. */
import { readFile, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, test } from "vitest";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import type { S3ArtifactStore } from "../../../web/src/s3.js";
import type { ToolResult } from "../../../web/src/tools-node.js";
import { FaultyS3 } from "../artifacts/s3/faulty-s3.js";
import { refuse, type Asked } from "../artifacts/s3/faulty-proxy.js";
import { ADA, BOB, lab, seen, type Lab } from "./lab.js";

/** 1 KiB. */
const LIMIT = 1 / 1024;
const LARGE = "large ".repeat(1000);

const service = FaultyS3.forTests();
let largeStore: S3ArtifactStore;
beforeEach(() => {
  largeStore = service.store();
});

const ours = (): Promise<Lab> => lab({ files: { largeStore, base64_size_limit_mb: LIMIT } });

/** The names of what is in a store. */
async function namesIn(store: ArtifactStore): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { filename } of store.list()) names.push(filename ?? "");
  return names.toSorted();
}

/** What is on either side. */
async function places({ store }: Lab): Promise<readonly [near: readonly string[], far: readonly string[]]> {
  return [await namesIn(store), await namesIn(largeStore)];
}

async function textOf({ userFiles }: Lab, name: string): Promise<string> {
  return new Response(await userFiles.storage(ADA).open(name)).text();
}

describe("files above the size limit are in the bucket, and nobody sees a difference", () => {
  test("when they are uploaded: listed, read, given to tools, renamed and removed", async () => {
    const own = await ours();
    const files = own.userFiles.storage(ADA);
    for (const [name, text] of [
      ["small.txt", "small"],
      ["large.txt", LARGE],
    ] as const) {
      expect(await files.put(name, text)).toMatchObject({ name, size_bytes: text.length, origin: "uploaded" });
    }
    expect(await places(own)).toEqual([["small.txt"], ["large.txt"]]);
    expect((await files.list()).map(({ name }) => name)).toEqual(["large.txt", "small.txt"]);
    expect(await textOf(own, "large.txt")).toBe(LARGE);
    expect(await own.userFiles.prompt("?", ADA)).toContain("- large.txt (uploaded ");
    expect(seen(await own.call("length", { filename: "large.txt" }))).toEqual({ results: { length: LARGE.length } });
    expect(await readFile(`${own.root}/ada/input_files/large.txt`, "utf8")).toBe(LARGE);
    expect(await files.rename("large.txt", "named.txt")).toMatchObject({ name: "named.txt", size_bytes: LARGE.length });
    expect(await textOf(own, "named.txt")).toBe(LARGE);
    expect(await own.userFiles.storage(BOB).list()).toEqual([]);
    expect(await files.remove("named.txt")).toBe(true);
    expect(await places(own)).toEqual([["small.txt"], []]);
  });

  test("when tools make them, by path, as base64 or as drafts: the model is told names and references", async () => {
    const own = await ours();
    const written = await own.call("write", { name: "large.txt", content: LARGE });
    const inline = await own.call("bytes", { large: true });
    const root = `${own.root}/ada`;
    const deferred_artifacts = [{ name: "draft.txt", path: `${root}/large.txt`, mime: "text/plain" }];
    const draft = await own.call("raw", { result: { structuredContent: { results: {}, deferred_artifacts } } });
    for (const { text } of [written, inline, draft]) {
      expect(text).toMatch(/"ref":"artifact:\/\/file-[0-9a-f]{16}_[0-9a-f]+\?/);
      for (const word of ["b64", "s3", "bucket", "127.0.0.1", service.prefix, root, '"path"'])
        expect(text).not.toContain(word);
    }
    expect(await places(own)).toEqual([[], ["draft.txt", "large.txt", "names.csv"]]);
    const list = await own.userFiles.storage(ADA).list();
    expect(list.map(({ name, origin, facts }) => [name, origin, facts])).toEqual([
      ["draft.txt", "deferred", null],
      ["large.txt", "generated", null],
      ["names.csv", "generated", "12,000 rows"],
    ]);
    expect(await textOf(own, "draft.txt")).toBe(LARGE);
    expect(seen(await own.call("length", { filename: "draft.txt" }))).toEqual({ results: { length: LARGE.length } });
  });

  test("at the limit a file is on the near side, and one byte above it on the far side", async () => {
    const own = await ours();
    const files = own.userFiles.storage(ADA);
    await files.put("at.bin", new Uint8Array(1024));
    await files.put("above.bin", new Uint8Array(1025));
    expect(await places(own)).toEqual([["at.bin"], ["above.bin"]]);
  });
});

/** A result with a file for either side. */
async function both({ call, root }: Lab): Promise<ToolResult> {
  await call("echo");
  const artifacts = [
    { name: "far.txt", path: `${root}/ada/far.txt`, mime: "text/plain" },
    { name: "near.txt", path: `${root}/ada/near.txt`, mime: "text/plain" },
  ];
  for (const { name, path } of artifacts) await writeFile(path, name === "far.txt" ? LARGE : "near");
  return call("raw", { result: { structuredContent: { results: { done: true }, artifacts } } });
}

const isWrite = ({ method }: Asked): boolean => method === "PUT" || method === "POST";

describe("a bucket that is out of order costs the files that go there, and no others", () => {
  test.each([
    ["answers 503", (response: ServerResponse): boolean => refuse(response, 503, "SlowDown")],
    ["lets nobody in", (response: ServerResponse): boolean => refuse(response, 403, "AccessDenied")],
    ["does not answer", (): boolean => true],
  ] as const)("one that %s: the file is told with a warning", async (_, answer) => {
    largeStore = service.store({ timeoutMs: 300 });
    const own = await ours();
    service.proxy.set({ before: (asked, response) => isWrite(asked) && answer(response) });
    const result = await both(own);
    expect(result.isError).toBe(false);
    expect(seen(result)).toMatchObject({
      results: { done: true },
      artifacts: [
        { name: "far.txt", warning: expect.stringMatching(/^The object storage /) as string },
        { name: "near.txt", ref: expect.stringContaining("artifact://file-") as string },
      ],
    });
    for (const word of ["127.0.0.1", service.prefix, "SlowDown", own.root]) expect(result.text).not.toContain(word);
    expect(own.events.filter(({ kind }) => kind === "failed")).toHaveLength(1);
    expect((await own.userFiles.storage(ADA).list()).map(({ name }) => name)).toEqual(["near.txt"]);
  });

  test("one that cannot be read: a call that names files says so, and is made once it can", async () => {
    const own = await ours();
    await own.userFiles.storage(ADA).put("large.txt", LARGE);
    service.proxy.set({ before: (_, response) => refuse(response, 503, "SlowDown") });
    const refused = await own.call("length", { filename: "large.txt" }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "E_STORE_READ" });
    expect((refused as Error).message).not.toMatch(/127\.0\.0\.1|SlowDown/);
    service.proxy.set({});
    expect(seen(await own.call("length", { filename: "large.txt" }))).toEqual({ results: { length: LARGE.length } });
  });
});
