/** Build folders of checkouts that were moved or copied. */
import { existsSync } from "node:fs";
import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { removeForeignCache } from "../../../scripts/build.mjs";
import { emptyFolder } from "../../support/folder.js";

/** A build folder as CMake leaves it. */
async function configure(checkout: string, folder = join(checkout, "build/preset")): Promise<string> {
  const cache = `# For build in directory: ${folder}\nCMAKE_CACHEFILE_DIR:INTERNAL=${folder}\nCMAKE_HOME_DIRECTORY:INTERNAL=${checkout}\n`;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "CMakeCache.txt"), cache);
  return folder;
}

test("one of this checkout stays, also where its path leads through a link", async () => {
  const home = await emptyFolder();
  const checkout = join(home, "a #1");
  const folder = await configure(checkout);
  removeForeignCache(folder, checkout);
  await symlink(checkout, join(home, "link"));
  removeForeignCache(join(home, "link/build/preset"), join(home, "link"));
  expect(existsSync(folder)).toBe(true);
});

test("one that was moved with its checkout is taken away", async () => {
  const home = await emptyFolder();
  await configure(join(home, "before"));
  await rename(join(home, "before"), join(home, "after"));
  const folder = join(home, "after/build/preset");
  removeForeignCache(folder, join(home, "after"));
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(dirname(folder))).toBe(true);
});

test("one that was copied is taken away while the other checkout is still there", async () => {
  const home = await emptyFolder();
  const other = join(home, "other");
  await configure(other);
  const folder = join(home, "copy/build/preset");
  await configure(other, folder);
  removeForeignCache(folder, join(home, "copy"));
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(join(other, "build/preset"))).toBe(true);
});

test("one that CMake has not configured yet is left alone", async () => {
  const folder = await emptyFolder();
  removeForeignCache(folder, folder);
  expect(existsSync(folder)).toBe(true);
});
