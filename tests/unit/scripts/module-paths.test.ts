/** Paths of modules in a build, whatever the folders above the checkout are called. */
import { execFile } from "node:child_process";
import { cp, readdir, readFile, realpath, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../../../scripts/run.mjs";
import { emptyFolder } from "../../support/folder.js";

/** What a checkout in another folder makes of ids: `{}` in them is the folder, first as it is, then as Vite sees it. */
async function shortenIn(checkout: string, ids: readonly string[]) {
  for (const name of ["module-paths.mjs", "run.mjs"]) {
    await cp(join(root, "scripts", name), join(checkout, "scripts", name));
  }
  const program = `
    const [url, folder, ids] = process.argv.slice(1);
    const { shortenId, viteRoot } = await import(url);
    const shortened = [folder, viteRoot].map((each) => JSON.parse(ids).map((id) => shortenId(id.replace("{}", each))));
    console.log(JSON.stringify({ viteRoot, shortened }));
  `;
  const { href } = pathToFileURL(join(checkout, "scripts/module-paths.mjs"));
  const args = ["--input-type=module", "--eval", program, href, checkout, JSON.stringify(ids)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as { readonly viteRoot: string; readonly shortened: readonly (readonly string[])[] };
}

test.each(["plain", "app/ui/dist/node_modules/x", "a folder, #1 & 100 %"])(
  "ids are paths from a checkout in %s",
  async (path) => {
    const checkout = join(await emptyFolder(), path);
    const ids = [
      "{}/web/ui/card.ts",
      "{}/node_modules/a/b.svg?raw&inline",
      "\0{}/node_modules/c/d.js?commonjs",
      "mcp-sluice/ui",
    ];
    const { viteRoot, shortened } = await shortenIn(checkout, ids);
    if (viteRoot !== checkout) onTestFinished(() => rm(viteRoot));
    expect(viteRoot).not.toContain("#");
    expect(await realpath(viteRoot)).toBe(checkout);
    const short = ["web/ui/card.ts", "node_modules/a/b.svg", "node_modules/c/d.js", "mcp-sluice/ui"];
    expect(shortened).toEqual([short, short]);
  },
);

test("a link that leads elsewhere is not followed", async () => {
  const checkout = join(await emptyFolder(), "#");
  const { viteRoot } = await shortenIn(checkout, []);
  onTestFinished(() => rm(viteRoot));
  await rm(viteRoot);
  await symlink(root, viteRoot);
  await expect(shortenIn(checkout, [])).rejects.toThrow("delete it, then run this again");
});

/** What asks a pattern of an id itself, in which the folders above the checkout stand too. */
const ASKED = /\.(?:test|exec)\((?:id|importer)\)|\b(?:id|importer)\.(?:includes|startsWith|match)\(|\btest: \//;

test("no build asks a pattern of a whole id", async () => {
  const names = ["scripts", "web"].map(async (folder) =>
    (await readdir(join(root, folder), { recursive: true })).map((name) => join(folder, name)),
  );
  const files = (await Promise.all(names))
    .flat()
    .filter((name) => /^scripts\/.*\.mjs$|\.config\.ts$/.test(name) && !name.endsWith("module-paths.mjs"));
  const faults = files.map(async (name) => {
    const lines = (await readFile(join(root, name), "utf8")).split("\n");
    return lines.filter((line) => ASKED.test(line)).map((line) => `${name}: ${line.trim()}`);
  });
  expect(files).toContain(join("web/playground", "vite.config.ts"));
  expect((await Promise.all(faults)).flat()).toEqual([]);
});
