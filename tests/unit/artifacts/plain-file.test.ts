import { link, mkdir, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFile, openPlain, readPlain, replaceFile } from "../../../web/src/artifacts/file/plain-file.js";
import { emptyFolder } from "../../support/folder.js";

// On Windows the system follows links when it opens a file.
test.each([
  ["a system that refuses links", true],
  ["a system that follows them", false],
])("on %s, a plain file is opened, and nothing else", async (_, refusesLinks) => {
  const folder = await emptyFolder();
  const at = (name: string): string => join(folder, name);
  await writeFile(at("file"), "text");
  await link(at("file"), at("second name"));
  await symlink(at("file"), at("link"));
  await mkdir(at("folder"));
  for (const name of ["file", "second name"]) {
    const { file, size } = await openPlain(at(name), refusesLinks);
    await file.close();
    expect(size).toBe(4);
  }
  await expect(openPlain(at("link"), refusesLinks)).rejects.toMatchObject({
    code: refusesLinks ? "ELOOP" : "E_STORE_DENIED",
  });
  await expect(openPlain(at("folder"), refusesLinks)).rejects.toMatchObject({ code: "E_STORE_DENIED" });
});

test("a file is created once, and replaced as a whole, for this user only", async () => {
  const folder = await emptyFolder();
  const path = join(folder, "file");
  expect(await createFile(path, "first")).toBe(true);
  expect(await createFile(path, "second")).toBe(false);
  expect(await readPlain(path, 100)).toBe("first");
  await replaceFile(path, "third");
  expect(await readPlain(path, 100)).toBe("third");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await mkdir(join(folder, "taken", "inside"), { recursive: true });
  await expect(replaceFile(join(folder, "taken"), "fourth")).rejects.toMatchObject({
    code: expect.stringMatching(/^E(ISDIR|EXIST|NOTEMPTY|PERM)$/),
  });
  expect((await readdir(folder)).sort()).toEqual(["file", "taken"]);
});
