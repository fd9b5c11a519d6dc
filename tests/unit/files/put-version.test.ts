/** What is put and fails, is put again, is put by many at once, or is one too many. */
import { once } from "node:events";
import { beforeEach, describe, expect, test, onTestFinished } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { TieredArtifactStore } from "../../../web/src/artifacts/tiered-store.js";
import { coreDescriber, UserStorage } from "../../../web/src/files/user-storage.js";
import { bundled, printed } from "../artifacts/child.js";
import { TestS3 } from "../artifacts/s3/ceph.js";
import { emptyFolder } from "../../support/folder.js";

const ADA = { user_id: "ada" };
const describer = coreDescriber(undefined);

let near: MemoryArtifactStore;
let far: MemoryArtifactStore;
let files: UserStorage;
beforeEach(() => {
  near = new MemoryArtifactStore();
  far = new MemoryArtifactStore();
  const store = new TieredArtifactStore({ near, far, limitBytes: 10 });
  files = new UserStorage(store, ADA, { describer, maxBytes: 100 });
});

/** Contents in both stores. */
async function kept(): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const store of [near, far]) {
    for await (const { id, scope } of store.list()) {
      texts.push(new TextDecoder().decode((await store.get(id, scope)) ?? new Uint8Array()));
    }
  }
  return texts;
}

/** So many bytes, and then an error. */
function breaking(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull: (controller) => {
      if (left <= 0) controller.error(new Error("gone"));
      else controller.enqueue(new Uint8Array(Math.min(left, 4)));
      left -= 4;
    },
  });
}

describe("a file that fails", () => {
  test.each([0, 8, 40])("after %d bytes leaves nothing, and what was there as it is", async (bytes) => {
    await files.put("a.txt", "before");
    await expect(files.put("a.txt", breaking(bytes))).rejects.toThrow("gone");
    await expect(files.put("b.txt", breaking(bytes))).rejects.toThrow("gone");
    expect(await kept()).toEqual(["before"]);
    expect(await files.list()).toMatchObject([{ name: "a.txt", versions: 1, size_bytes: 6 }]);
    expect(await files.put("b.txt", "after")).toMatchObject({ versions: 1 });
  });

  test("since it is larger than is taken is told as E_FILE_TOO_LARGE, and ends its stream", async () => {
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(30)),
      cancel: () => void (isCancelled = true),
    });
    await expect(files.put("a.bin", endless)).rejects.toMatchObject({
      code: "E_FILE_TOO_LARGE",
      details: { file_size_bytes: 120, current_limit_bytes: 100 },
    });
    expect([isCancelled, await kept()]).toEqual([true, []]);
    expect(await files.put("a.bin", new Uint8Array(100))).toMatchObject({ size_bytes: 100 });
  });

  test.each([undefined, null, 7, {}])("since there are no bytes leaves nothing: %j", async (data) => {
    await expect(files.put("a.txt", data as never)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    expect(await kept()).toEqual([]);
  });
});

describe("versions", () => {
  test("that were there before are the newest when they are put again, and are not kept twice", async () => {
    for (const text of ["one", "two", "one"]) await files.put("a.txt", text);
    expect(await new Response(await files.open("a.txt")).text()).toBe("one");
    expect(await files.find("a.txt")).toMatchObject({ versions: 2 });
    expect([...(await kept())].sort()).toEqual(["one", "two"]);
  });

  test("say where they came from when they are put again", async () => {
    await files.put("a.txt", "one", { category: "draft", description: "First" });
    const again = await files.put("a.txt", "one", { origin: "generated", category: "report" });
    expect(again).toMatchObject({ origin: "generated", category: "report", description: null, versions: 1 });
  });

  test("are a hundred at most: the oldest goes, also when it was in the other store", async () => {
    const texts = Array.from({ length: 103 }, (_, at) => `${at}`.padEnd(at % 2 === 0 ? 4 : 20));
    for (const text of texts) await files.put("a.txt", text);
    expect(await files.find("a.txt")).toMatchObject({ versions: 100 });
    expect(await files.versions("a.txt")).toHaveLength(100);
    expect([...(await kept())].sort()).toEqual(texts.slice(3).sort());
    await files.remove("a.txt");
    expect(await kept()).toEqual([]);
  });

  test("that tools made go before what the user uploaded, however many there are", async () => {
    await files.put("a.txt", "mine");
    for (let at = 0; at < 110; at += 1) await files.put("a.txt", `${at}`, { origin: "generated" });
    const versions = await files.versions("a.txt");
    expect([versions.length, versions.at(-1)?.origin, versions[0]?.origin]).toEqual([100, "uploaded", "generated"]);
    expect(await new Response(await files.open("a.txt")).text()).toBe("109");
  });
});

const EIGHT = Array.from({ length: 8 }, (_, index) => `text ${index}`);

/** The one file that there is, and the texts of all of its versions. */
async function versionsIn(storage: UserStorage): Promise<readonly string[]> {
  expect(await storage.list()).toMatchObject([{ name: "new.txt", versions: 8 }]);
  expect(await storage.find("new.txt")).toMatchObject({ versions: 8 });
  const texts = (await storage.versions("new.txt")).map(async (version) =>
    new Response(await storage.open(version)).text(),
  );
  return (await Promise.all(texts)).sort((left, right) => (left < right ? -1 : 1));
}

test.skipIf(process.platform === "win32")(
  "eight processes make one file of eight versions in a folder",
  async () => {
    const folder = await emptyFolder();
    const program = await bundled("../files/put-program");
    onTestFinished(() => program.dispose());
    const children = EIGHT.map((text) => program.start(folder, "new.txt", text));
    const said = children.map(printed);
    await Promise.all(children.map(async (child) => child.stdout && once(child.stdout, "data")));
    for (const child of children) child.kill("SIGUSR2");
    expect(await Promise.all(said)).toEqual(EIGHT.map(() => "ready\nnew.txt"));
    expect(await versionsIn(new UserStorage(new FileArtifactStore(folder), ADA))).toEqual(EIGHT);
  },
  60_000,
);

test("eight clients make one file of eight versions in a bucket", async () => {
  await using s3 = await TestS3.started();
  const prefix = s3.prefix();
  const stores = EIGHT.map(() => s3.store({ prefix }));
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
  await Promise.all(stores.map((store, at) => new UserStorage(store, ADA).put("new.txt", EIGHT[at] ?? "")));
  const [one] = stores;
  if (one === undefined) throw new Error("There is no store.");
  expect(await versionsIn(new UserStorage(one, ADA))).toEqual(EIGHT);
}, 60_000);
