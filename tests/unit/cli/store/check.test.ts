import { appendFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../../web/src/artifacts/file/file-store.js";
import { Layout } from "../../../../web/src/artifacts/file/folder.js";
import { scopeKey } from "../../../../web/src/artifacts/scope.js";
import type { ArtifactRef } from "../../../../web/src/artifacts/store.js";
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
