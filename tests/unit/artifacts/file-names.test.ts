/** The names of a folder's artifacts: in stores that were written without, and what is left of processes that died. */
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { listed } from "./bytes.js";

const scope = { user_id: "ada" };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-names-"));
  onTestFinished(() => rm(folder, { recursive: true }));
});

async function named(filename: string): Promise<readonly string[]> {
  return (await listed(new FileArtifactStore(folder).list(scope, { filename }))).map(({ id }) => id);
}

/** Paths of the entries that there are. */
async function entries(): Promise<readonly string[]> {
  const paths = await readdir(join(folder, "names"), { recursive: true });
  return paths.filter((path) => path.includes("@"));
}

test("a store that was written before there were names is found its way in all the same", async () => {
  const store = new FileArtifactStore(folder);
  const { id } = await store.putText("x", { scope, filename: "a.txt" });
  await rm(join(folder, "names"), { recursive: true });
  expect(await named("a.txt")).toEqual([id]);
  expect(await entries()).toHaveLength(1);
  await store.update(id, { filename: "b.txt" }, scope);
  expect([await named("a.txt"), await named("b.txt")]).toEqual([[], [id]]);
});

test("an entry goes with its artifact, and with its name", async () => {
  const store = new FileArtifactStore(folder);
  const { id } = await store.putText("x", { scope, filename: "a.txt" });
  await store.update(id, { filename: "b.txt" }, scope);
  expect(await entries()).toHaveLength(1);
  await store.delete(id, scope);
  expect(await entries()).toEqual([]);
});

test("an entry without an artifact counts for nothing, and goes with gc once it is old", async () => {
  const store = new FileArtifactStore(folder);
  const { id } = await store.putText("x", { scope, filename: "a.txt" });
  const [entry = ""] = await entries();
  const left = [entry.replace(/@.*/, "@zzz"), entry.replace(/_[0-9a-f]{12}@/, "_ffffffffffff@")];
  for (const path of left) await writeFile(join(folder, "names", path), "");
  expect(await named("a.txt")).toEqual([id]);
  await store.gc();
  expect(await entries()).toHaveLength(3);
  const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
  for (const path of [...left, entry]) await utimes(join(folder, "names", path), old, old);
  await store.gc();
  expect(await entries()).toEqual([entry]);
  expect(await named("a.txt")).toEqual([id]);
});
