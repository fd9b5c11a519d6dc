/** A name that there was not, put by many at once. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { UserStorage } from "../../../web/src/files/user-storage.js";
import { bundled, printed } from "../artifacts/child.js";
import { TestS3 } from "../artifacts/s3/ceph.js";

const EIGHT = Array.from({ length: 8 }, (_, index) => `text ${index}`);
const ADA = { user_id: "ada" };

/** The one file that there is, and the texts of all of its versions. */
async function versionsIn(files: UserStorage): Promise<readonly string[]> {
  expect(await files.list()).toMatchObject([{ name: "new.txt", versions: 8 }]);
  expect(await files.find("new.txt")).toMatchObject({ versions: 8 });
  const texts = (await files.versions("new.txt")).map(async (version) =>
    new Response(await files.open(version)).text(),
  );
  return (await Promise.all(texts)).sort((left, right) => (left < right ? -1 : 1));
}

test.skipIf(process.platform === "win32")(
  "eight processes make one file of eight versions in a folder",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-put-"));
    const program = await bundled("../files/put-program");
    onTestFinished(async () => {
      await program.dispose();
      await rm(folder, { recursive: true, force: true });
    });
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
