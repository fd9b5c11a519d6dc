import { appendFile, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../../web/src/artifacts/file/file-store.js";
import { Layout } from "../../../../web/src/artifacts/file/folder.js";
import { scopeKey } from "../../../../web/src/artifacts/scope.js";
import { emptyFolder } from "../../../support/folder.js";
import { sluiceHere } from "../in-process.js";

let root: string;
let from: string;
let to: string;

beforeEach(async () => {
  root = await emptyFolder();
  [from, to] = [join(root, "from"), join(root, "to")];
});

const copy = (...words: readonly string[]) => sluiceHere(["store", "copy", ...words], { cwd: root });

test("a folder is copied to another, and a line says what was done", async () => {
  const { id } = await new FileArtifactStore(from).putText("text");
  const line = "1 artifact: 1 copied (4 B), 0 updated, 0 removed in 2 passes\n";
  expect(await copy("from", "to")).toEqual({ code: 0, stdout: line, stderr: "" });
  expect(await new FileArtifactStore(to).exists(id)).toBe(true);
  const again = "1 artifact: 0 copied (0 B), 0 updated, 0 removed in 1 pass\n";
  expect((await copy("from", "to")).stdout).toBe(again);
});

test("of a server's place both stores are copied, under their names", async () => {
  await new FileArtifactStore(join(from, "sessions")).putText("of a session");
  await new FileArtifactStore(join(from, "files")).putText("a file");
  const { code, stdout } = await copy(from, to, "--json");
  expect(code).toBe(0);
  const done = { artifacts: 1, copied: 1, updated: 0, removed: 0, passes: 2, is_settled: true, faults: [] };
  expect(JSON.parse(stdout)).toEqual({
    stores: [
      { store: "sessions", copied_bytes: 12, ...done },
      { store: "files", copied_bytes: 6, ...done },
    ],
  });
  expect((await new FileArtifactStore(join(to, "files")).check()).artifacts).toBe(1);
});

test("a dry run says what would be done", async () => {
  await new FileArtifactStore(from).putText("text");
  const { code, stdout } = await copy(from, to, "--dry-run");
  expect([code, stdout]).toEqual([0, "1 artifact: to do: 1 copied (4 B), 0 updated, 0 removed\n"]);
  expect(await new FileArtifactStore(to).isThere()).toBe(false);
});

test("what was left out is a line with the remedy, and exit code 1", async () => {
  const { id, scope } = await new FileArtifactStore(from).putText("text", { scope: { user_id: "ada" } });
  await appendFile(join(new Layout(from).refFolder(scopeKey(scope), id), "blob"), "!");
  const { code, stdout } = await copy(from, to);
  expect(code).toBe(1);
  expect(stdout).toContain(`${id} (user_id=ada): its bytes in SOURCE are damaged: \`sluice store check --repair\``);
  expect(stdout).toContain("0 copied (0 B), 0 updated, 0 removed, 1 left out in");
});

describe("is refused in one sentence, and makes nothing:", () => {
  const refused = async (words: readonly string[], sentence: string, code = 2): Promise<void> => {
    const ended = await copy(...words);
    expect(ended).toMatchObject({ code, stdout: "" });
    expect(ended.stderr).toContain(sentence);
    expect(await new FileArtifactStore(to).isThere()).toBe(false);
  };

  beforeEach(() => new FileArtifactStore(from).putText("text"));

  test("the same place twice, also by another name", async () => {
    await symlink(from, join(root, "link"));
    await refused(["from", "./from/"], "SOURCE and TARGET are the same place");
    await refused(["from", "link"], "SOURCE and TARGET are the same place");
    await refused(["s3://bucket/a", "s3://bucket/a/"], "SOURCE and TARGET are the same place");
  });

  test("one inside the other", async () => {
    await refused(["from", "from/deep/down"], "TARGET lies inside SOURCE");
    await refused(["from", "."], "SOURCE lies inside TARGET");
    await refused(["s3://bucket/a", "s3://bucket/a/b"], "TARGET lies inside SOURCE");
    await refused(["s3://bucket/a", "s3://bucket"], "SOURCE lies inside TARGET");
  });

  test("what is no store", async () => {
    await mkdir(join(root, "empty"));
    await refused(["empty", "to"], "there is no store at SOURCE", 1);
    await refused(["none", "to"], "there is no store at SOURCE", 1);
  });

  test("an address of another kind, and a bucket that cannot be", async () => {
    await refused(["from", "gs://bucket"], "TARGET must be a folder, s3://bucket or s3://bucket/prefix");
    await refused(["s3://b/?", "to"], "SOURCE must be a folder, s3://bucket or s3://bucket/prefix");
    await refused(["from"], "TARGET");
  });

  test("a target that is a file, which says that the copy can go on", async () => {
    await appendFile(to, "");
    const { code, stderr } = await copy(from, to);
    expect(code).toBe(73);
    expect(stderr).toMatch(/^sluice: the copy stopped at its target: .*run the same command again to go on\n$/);
  });
});
