/** Stores that are copied between folders and a real bucket by processes that die, while others use them. */
import { once } from "node:events";
import { mkdir, readdir, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../../web/src/artifacts/file/file-store.js";
import { FolderRecords } from "../../../../web/src/artifacts/file/folder-records.js";
import { BucketRecords } from "../../../../web/src/artifacts/s3/bucket-records.js";
import { copyStore } from "../../../../web/src/artifacts/copy.js";
import { emptyFolder } from "../../../support/folder.js";
import { amount } from "../../../support/full.js";
import { listed, noise, same } from "../../artifacts/bytes.js";
import { changed, contentsOf, type Change } from "../../artifacts/copying.js";
import { BUCKET, CREDENTIALS, TestS3 } from "../../artifacts/s3/ceph.js";
import { FaultyProxy, refuse } from "../../artifacts/s3/faulty-proxy.js";
import { mounted, unmounted } from "../../artifacts/small-disk.js";
import { sluice, start, type Ended } from "../command.js";
import { begin, serve, type Served } from "../serve/serving.js";

let s3: TestS3;
let prefix: string;
let root: string;
let from: string;
let back: string;
let url: string;

beforeAll(async () => {
  s3 = await TestS3.started();
}, 120_000);
afterAll(() => s3[Symbol.asyncDispose]());
beforeEach(async () => {
  prefix = s3.prefix();
  url = `s3://${BUCKET}/${prefix}`;
  root = await emptyFolder();
  [from, back] = [join(root, "from"), join(root, "back")];
});

/** What the command and a server need to find the service. */
const env = (endpoint: string = s3.endpoint): Record<string, string> => ({
  AWS_ENDPOINT_URL: endpoint,
  AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  // The SDK prints one about versions of Node.
  NODE_NO_WARNINGS: "1",
});

const copy = (source: string, target: string, endpoint?: string): Promise<Ended> =>
  sluice(["store", "copy", source, target, "--json"], { env: env(endpoint) });

interface Said {
  readonly stores: readonly [Readonly<Record<string, unknown>>];
}

const said = ({ stdout }: Ended): Readonly<Record<string, unknown>> => (JSON.parse(stdout) as Said).stores[0];

const bucketRecords = (): BucketRecords =>
  new BucketRecords({ bucket: BUCKET, prefix, endpoint: s3.endpoint, credentials: CREDENTIALS });

/** A change made of its number. */
const numbered = (number: number): Change => ({
  what: (["put", "put", "update", "put", "get", "delete"] as const)[number % 6] ?? "put",
  size: 1 + ((number * 7) % 40) * 500,
  scope: number % 3 === 0 ? {} : { user_id: `u${number % 3}`, session_id: "s" },
  namespace: "artifact",
  filename: number % 4 === 0 ? null : `file-${number % 5}`,
});

async function filled(store: FileArtifactStore, changes: number): Promise<void> {
  for (let number = 0; number < changes; number++) await changed(store, numbered(number));
}

test("folder to bucket to folder gives the same store, by every field", async () => {
  await filled(new FileArtifactStore(from), 60);
  await new FileArtifactStore(from).putBytes(noise(20_000_000), { filename: "large" });
  expect(await copy(from, url)).toMatchObject({ code: 0, stderr: "" });
  await using bucket = bucketRecords();
  const contents = await contentsOf(new FolderRecords(from));
  expect(await contentsOf(bucket)).toEqual(contents);
  expect(said(await copy(url, back))).toMatchObject({ is_settled: true, faults: [] });
  expect(await contentsOf(new FolderRecords(back))).toEqual(contents);
  await using store = s3.store({ prefix });
  expect(await listed(store.list())).toEqual(await listed(new FileArtifactStore(back).list()));
  expect(await listed(store.list({}, { filename: "large" }))).toHaveLength(1);
}, 120_000);

test("a bucket keeps up with what changes in a folder, and a folder with what changes in a bucket", async () => {
  const store = new FileArtifactStore(from);
  await filled(store, 30);
  await copy(from, url);
  for (let number = 30; number < 60; number++) await changed(store, numbered(number));
  expect(said(await copy(from, url))).toMatchObject({ is_settled: true, faults: [] });
  await using bucket = bucketRecords();
  expect(await contentsOf(bucket)).toEqual(await contentsOf(new FolderRecords(from)));
  await copy(url, back);
  await using remote = s3.store({ prefix });
  for (const { id, scope } of (await listed(remote.list())).slice(0, 3)) await remote.delete(id, scope);
  for (const { id, scope } of (await listed(remote.list())).slice(0, 3)) {
    await remote.update(id, { filename: "changed.txt" }, scope);
    await remote.get(id, scope);
  }
  expect(said(await copy(url, back))).toMatchObject({ removed: 3, updated: 3, is_settled: true, faults: [] });
  expect(await contentsOf(new FolderRecords(back))).toEqual(await contentsOf(bucket));
  expect((await new FileArtifactStore(back).check()).faults).toEqual([]);
}, 120_000);

test.each(["folder", "bucket"])(
  "a copy to a %s that is killed at any time goes on, copies nothing twice and leaves nothing half",
  async (kind) => {
    const store = new FileArtifactStore(from);
    for (let number = 0; number < 120; number++)
      await store.putBytes(noise(30_000 + number, number), { filename: `f${number}` });
    const target = kind === "folder" ? back : url;
    const records = (): FolderRecords | BucketRecords =>
      kind === "folder" ? new FolderRecords(back) : bucketRecords();
    const seen = new Set<string>();
    for (let attempt = 0; attempt < amount(3, 12); attempt++) {
      const child = start(["store", "copy", from, target], { env: env() });
      const ended = once(child, "close");
      await sleep(250 + Math.random() * 600);
      child.kill("SIGKILL");
      await ended;
      await using there = records();
      // Whatever can be seen is whole: its bytes are read and compared with their hash.
      await contentsOf(there);
      for await (const record of there.records()) if ("ref" in record) seen.add(record.ref.id);
    }
    const { copied, is_settled } = said(await copy(from, target));
    expect(is_settled).toBe(true);
    expect(copied).toBe(120 - seen.size);
    await using there = records();
    expect(await contentsOf(there)).toEqual(await contentsOf(new FolderRecords(from)));
    // Names of what is unfinished are longer than those of its owners.
    const left = kind === "folder" ? await readdir(join(back, "tmp")) : [];
    expect(left.filter((name) => name.length > 40)).toEqual([]);
  },
  180_000,
);

describe("a bucket that goes away in the middle", () => {
  test("is one sentence without its place, and the copy goes on later", async () => {
    await filled(new FileArtifactStore(from), 60);
    await using proxy = await FaultyProxy.before(s3.endpoint);
    proxy.set({ before: ({ turn }, response) => turn > 60 && refuse(response, 503, "ServiceUnavailable") });
    const { code, stdout, stderr } = await copy(from, url, proxy.endpoint);
    expect([code, stdout]).toEqual([73, ""]);
    expect(stderr).toMatch(/^sluice: the copy stopped at its target: .* run the same command again to go on\n$/);
    for (const secret of [prefix, "127.0.0.1", CREDENTIALS.accessKeyId, CREDENTIALS.secretAccessKey, from]) {
      expect(stderr).not.toContain(secret);
    }
    proxy.set({});
    expect(said(await copy(from, url, proxy.endpoint))).toMatchObject({ is_settled: true, faults: [] });
  }, 120_000);

  test("as the source it says so", async () => {
    await filled(new FileArtifactStore(from), 60);
    await copy(from, url);
    await using proxy = await FaultyProxy.before(s3.endpoint);
    proxy.set({ before: ({ path }, response) => path.includes("/blobs/") && refuse(response, 503, "SlowDown") });
    const { code, stderr } = await copy(url, back, proxy.endpoint);
    expect(code).toBe(74);
    expect(stderr).toContain("the copy stopped at its source: the object storage is busy");
  }, 120_000);

  test("wrong credentials are refused before anything is done", async () => {
    await filled(new FileArtifactStore(from), 3);
    const wrong = { ...env(), AWS_SECRET_ACCESS_KEY: "wrong" };
    const { code, stderr } = await sluice(["store", "copy", from, url], { env: wrong });
    expect(code).toBe(73);
    expect(stderr).toContain("the copy stopped at its target: the object storage refused access");
  }, 60_000);
});

const disk = mounted(5);
afterAll(() => {
  if (disk !== undefined) unmounted(disk);
});

test.runIf(disk !== undefined)("a full disk is one sentence, and the copy goes on where there is room", async () => {
  const [target, ballast] = [join(disk ?? "", "store"), join(disk ?? "", "ballast")];
  await writeFile(ballast, noise(2_500_000));
  const store = new FileArtifactStore(from);
  for (let number = 0; number < 12; number++) await store.putBytes(noise(250_000, number));
  const { code, stderr } = await copy(from, target);
  expect(code).toBe(73);
  expect(stderr).toMatch(/^sluice: the copy stopped at its target: the store is full.* to go on\n$/s);
  const there = await listed(new FileArtifactStore(target).list());
  await unlink(ballast);
  expect(said(await copy(from, target))).toMatchObject({ is_settled: true, copied: 12 - there.length });
  expect(await contentsOf(new FolderRecords(target))).toEqual(await contentsOf(new FolderRecords(from)));
});

describe("a server's store moves to a bucket while it is used:", () => {
  /** Users who store files, rename and delete some, until they are told to stop. All that was acknowledged is kept in mind. */
  class Users {
    /** The numbers of files that are there, by their ids. */
    readonly files = new Map<string, number>();
    isOver = false;
    #next = 0;

    async work(server: Served): Promise<void> {
      const session = await begin(server.url);
      while (!this.isOver) {
        // Within what a session may ask in a minute.
        await sleep(250);
        const number = this.#next++;
        const name = `file-${number}.bin`;
        const stored = await session
          .ask(`files?filename=${name}`, {
            method: "POST",
            headers: { "content-type": "application/octet-stream" },
            body: noise(1000 + number, number),
          })
          .catch(() => null);
        if (stored?.ok !== true) continue;
        const { file } = (await stored.json()) as { readonly file: { readonly id: string } };
        this.files.set(file.id, number);
        if (number % 5 !== 0) continue;
        const deleted = await session.ask(`files/${file.id}`, { method: "DELETE" }).catch(() => null);
        if (deleted?.ok === true) this.files.delete(file.id);
      }
    }
  }

  test("copy while it runs, stop the servers, copy once more, start at the bucket: nothing is lost", async () => {
    await mkdir(from, { mode: 0o700 });
    const users = new Users();
    {
      await using one = await serve(["--store", from]);
      await using two = await serve(["--store", from]);
      const work = [users.work(one), users.work(two)];
      await sleep(4000);
      const first = await copy(from, url);
      expect(first.stderr).toBe("");
      expect(users.files.size).toBeGreaterThan(10);
      users.isOver = true;
      await Promise.all(work);
      await Promise.all([one.end("SIGTERM"), two.end("SIGTERM")]);
    }
    const begun = performance.now();
    expect(await copy(from, url)).toMatchObject({ code: 0, stderr: "" });
    expect(performance.now() - begun).toBeLessThan(60_000);
    await rm(from, { recursive: true });
    await using server = await serve(["--store", url], env());
    const { ask } = await begin(server.url);
    const answer = await ask("files");
    expect(answer.status).toBe(200);
    const { files } = (await answer.json()) as { readonly files: readonly { readonly id: string }[] };
    expect(files.length).toBeGreaterThan(10);
    for (const [id, number] of users.files) {
      const file = await ask(`files/${id}`);
      expect(file.status).toBe(200);
      expect(same(new Uint8Array(await file.arrayBuffer()), noise(1000 + number, number))).toBe(true);
    }
    expect(new Set(files.map(({ id }) => id))).toEqual(new Set(users.files.keys()));
  }, 180_000);
});

test("whatever changes in a bucket while it is copied, a last copy makes both equal", async () => {
  await using remote = s3.store({ prefix });
  await remote.putText("one at least");
  for (let number = 0; number < 20; number++) await changed(remote, numbered(number));
  await using bucket = bucketRecords();
  const work = async (): Promise<void> => {
    for (let number = 20; number < amount(60, 200); number++) await changed(remote, numbered(number * 5));
  };
  await Promise.all([copyStore(bucket, new FolderRecords(back), {}), work()]);
  expect(await copyStore(bucket, new FolderRecords(back), {})).toMatchObject({ is_settled: true, faults: [] });
  expect(await contentsOf(new FolderRecords(back))).toEqual(await contentsOf(bucket));
}, 120_000);
