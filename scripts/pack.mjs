/**
 * `npm run pack`: what a release is made of, in `build/pack`: the packages, for each a bill of materials, and the checksums of all of
 * them. Two runs on one commit give the same bytes.
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { billOfMaterials, PLAYGROUND_PAPERS, SLUICE_PAPERS } from "./pack/bill-of-materials.mjs";
import { must, root } from "./run.mjs";
import { main, setup } from "./setup.mjs";
import { buildSite, PLAYGROUND } from "./site.mjs";
import { describeStale, findStaleSuites } from "./suites.mjs";

/** Where it is written. */
export const PACKED = join(root, "build/pack");

/** Each package: its folder, and its papers with what it has in itself of others. */
const PACKAGES = [
  { folder: root, papers: SLUICE_PAPERS },
  { folder: PLAYGROUND, papers: PLAYGROUND_PAPERS },
];

/**
 * Packs what is built.
 * @param {string} [folder] emptied first
 * @returns {Promise<string[]>} names of the files
 */
export async function pack(folder = PACKED) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const time = timeOfCommit();
  for (const { folder: from, papers } of PACKAGES) {
    // What is built is there already.
    await must("npm", ["pack", from, "--ignore-scripts", "--pack-destination", folder], { show: "failure" });
    const { name, version, description, license } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
    const tarball = `${name}-${version}.tgz`;
    const bill = billOfMaterials(
      { name, version, description, license },
      {
        folder: from,
        papers,
        sha256: sha256(join(folder, tarball)),
        ...(time !== undefined && { time }),
      },
    );
    writeFileSync(join(folder, `${name}-${version}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
  }
  const names = readdirSync(folder).toSorted();
  const sums = names.map((name) => `${sha256(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
  return [...names, "SHA256SUMS"];
}

const sha256 = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

/** When the commit was made, so that the time of packing is not told. Undefined outside of a clone. */
function timeOfCommit() {
  try {
    const seconds = execFileSync("git", ["log", "-1", "--format=%ct"], {
      cwd: root,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return new Date(Number(seconds) * 1000).toISOString();
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const stale = findStaleSuites();
    if (stale.length > 0) {
      const names = stale.map(describeStale).join("\n  ");
      throw new Error(
        `A release needs every suite to have passed for these sources: npm run test:full. Stale:\n  ${names}`,
      );
    }
    await setup("build");
    await build();
    await buildSite();
    const names = await pack();
    console.log(`pack: ${names.join(", ")} in ${relative(root, PACKED)}`);
  });
}
