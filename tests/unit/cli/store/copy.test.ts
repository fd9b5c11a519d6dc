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
  const refusal = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await copy(...words);
    const isMade = await new FileArtifactStore(to).isThere();
    return code === 0 || stdout !== "" || isMade ? "it was not refused" : stderr;
  };

  beforeEach(() => new FileArtifactStore(from).putText("text"));

  test("the same place twice, also by another name", async () => {
    await symlink(from, join(root, "link"));
    const sentence = "SOURCE and TARGET are the same place";
    expect(await refusal("from", "./from/")).toContain(sentence);
    expect(await refusal("from", "link")).toContain(sentence);
    expect(await refusal("s3://bucket/a", "s3://bucket/a/")).toContain(sentence);
  });

  test("one inside the other", async () => {
    expect(await refusal("from", "from/deep/down")).toContain("TARGET lies inside SOURCE");
    expect(await refusal("from", ".")).toContain("SOURCE lies inside TARGET");
    expect(await refusal("s3://bucket/a", "s3://bucket/a/b")).toContain("TARGET lies inside SOURCE");
    expect(await refusal("s3://bucket/a", "s3://bucket")).toContain("SOURCE lies inside TARGET");
  });

  test("something other than a store", async () => {
    await mkdir(join(root, "empty"));
    expect(await refusal("empty", "to")).toContain("there is no store at SOURCE");
    expect(await refusal("none", "to")).toContain("there is no store at SOURCE");
  });

  test("an address of another kind, and a bucket that cannot be", async () => {
    expect(await refusal("from", "gs://bucket")).toContain(
      "TARGET must be a folder, s3://bucket or s3://bucket/prefix",
    );
    expect(await refusal("s3://b/?", "to")).toContain("SOURCE must be a folder, s3://bucket or s3://bucket/prefix");
    expect(await refusal("from")).toContain("TARGET");
  });

  test("a target that is a file, which says that the copy can go on", async () => {
    await appendFile(to, "");
    const { code, stderr } = await copy(from, to);
    expect(code).toBe(73);
    expect(stderr).toMatch(/^sluice: the copy stopped at its target: .*run the same command again to go on\n$/);
  });
});
