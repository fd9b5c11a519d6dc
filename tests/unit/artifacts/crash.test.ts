import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { listed } from "./bytes.js";
import { programOf, printed } from "./child.js";
import { dyingAtEach, type Dying } from "./dying.js";
import { amount } from "../../support/full.js";
import { emptyFolder } from "../../support/folder.js";

const program = programOf("crash-program");

/** What is wrong with a store whose process died before its call number `call`; through when it did not die. */
async function dying(call: number): Promise<Dying> {
  const folder = join(await emptyFolder(), "store");
  const done = (await printed(program.start(folder, String(call)))) === "done";
  const store = new FileArtifactStore(folder);
  const wrong = await damagesOf(store);
  await store.gc();
  wrong.push(...(await damagesOf(store)));
  const refs = await listed(store.list());
  const left = await readdir(folder, { recursive: true }).catch(() => []);
  if (left.some((name) => /^tmp./.test(name))) wrong.push("temporaries were left");
  const blobs = left.filter((name) => /^blobs.*[0-9a-f]{64}$/.test(name)).length;
  if (blobs !== new Set(refs.map((ref) => ref.sha256)).size) wrong.push("blobs and refs do not match");
  // Whatever was left must not be in the way of the next.
  const again = await store.putBytes(new Uint8Array(100));
  if (!(await store.exists(again.id))) wrong.push("nothing can be stored");
  await rm(folder, { recursive: true });
  return { through: done, wrong };
}

async function damagesOf(store: FileArtifactStore): Promise<string[]> {
  const wrong: string[] = [];
  for (const { id, scope, filename } of await listed(store.list())) {
    const named = filename === null ? [] : await listed(store.list(scope, { filename }));
    if (filename !== null && !named.some((each) => each.id === id)) wrong.push(`${id}: not found by its name`);
    const failure = await store.get(id, scope).then(
      (bytes) => (bytes ? null : "gone"),
      (error: unknown) => String(error),
    );
    if (failure !== null) wrong.push(`${id}: ${failure}`);
  }
  return wrong;
}

test("a process may die before any of its calls to the file system", async () => {
  const { wrong, through, died } = await dyingAtEach(dying);
  expect(wrong).toEqual({});
  expect(through).toBe(true);
  expect(died).toBeGreaterThan(amount(12, 50));
}, 120_000);
