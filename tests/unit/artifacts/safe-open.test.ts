import { link, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPlain } from "../../../web/src/artifacts/file/safe-open.js";
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
