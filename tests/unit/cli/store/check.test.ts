import { appendFile, chmod, cp, mkdir, rename, rm, symlink, truncate, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../../web/src/artifacts/file/file-store.js";
import { Layout, scopeName } from "../../../../web/src/artifacts/file/folder.js";
import { scopeKey } from "../../../../web/src/artifacts/scope.js";
import type { ArtifactRef } from "../../../../web/src/artifacts/store.js";
import { listed } from "../../artifacts/bytes.js";
import { emptyFolder } from "../../../support/folder.js";
import { sluiceHere } from "../in-process.js";

let folder: string;
let adas: ArtifactRef;
let bobs: ArtifactRef;

beforeEach(async () => {
  folder = join(await emptyFolder(), "store");
  const store = new FileArtifactStore(folder);
  adas = await store.putText("the same", { scope: { user_id: "ada" } });
  bobs = await store.putText("the same", { scope: { user_id: "bob" } });
});

const check = (...options: readonly string[]) => sluiceHere(["store", "check", "--store", folder, ...options]);
const blobOf = ({ id, scope }: ArtifactRef): string => join(new Layout(folder).refFolder(scopeKey(scope), id), "blob");

test("of a sound store a line says what was read", async () => {
  expect(await check()).toEqual({ code: 0, stdout: "2 artifacts, 1 content of 8 B: all sound\n", stderr: "" });
});

describe("damage that can be repaired", () => {
  beforeEach(() => unlink(blobOf(bobs)));

  test("is a line with the remedy, and exit code 1", async () => {
    const line = `${bobs.id} (user_id=bob): its bytes are missing; --repair puts it right`;
    expect(await check()).toMatchObject({ code: 1, stdout: expect.stringContaining(line) });
  });

  test("is repaired, once, and then all is sound", async () => {
    const { code, stdout } = await check("--repair");
    expect(code).toBe(0);
    expect(stdout).toBe(
      `${bobs.id} (user_id=bob): its bytes are missing; repaired\n2 artifacts, 1 content of 8 B: 1 fault, 1 repaired\n`,
    );
    expect((await check()).stdout).toContain("all sound");
  });
});

test("damage without a sound copy says what to do for each artifact, and is left after a repair", async () => {
  await appendFile(blobOf(adas), "!");
  const { code, stdout } = await check("--repair");
  expect(code).toBe(1);
  for (const [{ id }, user] of [
    [adas, "ada"],
    [bobs, "bob"],
  ] as const) {
    expect(stdout).toContain(`${id} (user_id=${user}): its bytes are damaged; there is no sound copy: delete it`);
  }
});

test("a store that was damaged in twelve ways at once says each, and after a repair only what has no sound copy", async () => {
  const at = new Layout(folder);
  const store = new FileArtifactStore(folder);
  const both: ArtifactRef[] = [];
  for (let number = 0; number < 10; number++) {
    await store.putText(`content ${number}`, { scope: { user_id: "ada" } });
    both.push(await store.putText(`content ${number}`, { scope: { user_id: "bob" }, filename: `${number}.txt` }));
  }
  const carols = await store.putText("of carol alone", { scope: { user_id: "carol" } });
  // Makes the index of names.
  await listed(store.list({ user_id: "bob" }, { filename: "0.txt" }));
  const of = (number: number): ArtifactRef => both[number] ?? bobs;
  const recordOf = (number: number): string => join(blobOf(of(number)), "..", "ref.json");
  const alone = async (number: number, text: string): Promise<void> => {
    await unlink(blobOf(of(number)));
    await writeFile(blobOf(of(number)), text, { mode: 0o600 });
  };
  await alone(0, "CONTENT 0");
  await alone(1, "cont");
  await unlink(blobOf(of(2)));
  await unlink(blobOf(of(3)));
  await symlink("/etc/hostname", blobOf(of(3)));
  await writeFile(recordOf(4), "{");
  await unlink(recordOf(5));
  await cp(recordOf(0), recordOf(6));
  await truncate(recordOf(7), 64 * 1024 ** 2);
  await chmod(blobOf(of(8)), 0o644);
  await rm(join(at.names, scopeName(scopeKey(bobs.scope))), { recursive: true });
  await mkdir(join(at.blobs, "00"));
  await writeFile(join(at.blobs, "00", "00".repeat(32)), "of nobody");
  await writeFile(at.blob(adas.sha256), "THE SAME");
  const scope = at.scopeFolder(scopeKey(carols.scope));
  await rename(scope, join(folder, "..", "elsewhere"));
  await symlink(join(folder, "..", "elsewhere"), scope);

  const found = await check();
  const repaired = await check("--repair");
  expect([found.code, repaired.code]).toEqual([1, 1]);
  const saying = (number: number, sentence: string): string => `${of(number).id} (user_id=bob): ${sentence}`;
  for (const [{ stdout }, next] of [
    [found, "--repair puts it right"],
    [repaired, "repaired"],
  ] as const) {
    for (const number of [0, 1, 3]) expect(stdout).toContain(saying(number, `its bytes are damaged; ${next}`));
    expect(stdout).toContain(saying(2, `its bytes are missing; ${next}`));
    for (const number of [4, 5, 6, 7]) expect(stdout).toContain(saying(number, `its record cannot be read; ${next}`));
    expect(stdout).toContain(`other users of this machine can read it; ${next}`);
    expect(stdout).toContain(saying(9, `it is not found by its name; ${next}`));
    expect(stdout).toContain(`a file of the store: its bytes are damaged; ${next}`);
  }
  const left = (await check()).stdout.trim().split("\n").slice(0, -1).toSorted();
  expect(left.map((line) => line.replace(/; .*/, ""))).toEqual(
    [
      "a file of the store: it is no plain file or folder",
      `${adas.id} (user_id=ada): its bytes are damaged`,
      `${bobs.id} (user_id=bob): its bytes are damaged`,
    ].toSorted(),
  );
});

test("--json prints the whole report", async () => {
  await unlink(blobOf(bobs));
  const { stdout } = await check("--json");
  expect(JSON.parse(stdout)).toMatchObject({
    artifacts: 2,
    contents: 1,
    bytes: 8,
    faults: [{ kind: "missing", id: bobs.id, scope: { user_id: "bob" }, state: "repairable" }],
    swept: null,
  });
});

test("a folder that is no store, and a bucket to repair, are refused with the remedy", async () => {
  const nothing = await sluiceHere(["store", "check", "--store", join(folder, "..", "none")]);
  expect(nothing).toMatchObject({ stdout: "", stderr: expect.stringContaining("not a Sluice store") });
  expect(nothing.code).not.toBe(0);
  const bucket = await sluiceHere(["store", "check", "--store", "s3://bucket/prefix", "--repair"]);
  expect(bucket).toMatchObject({ code: 2, stderr: expect.stringContaining("--repair needs a folder") });
});
