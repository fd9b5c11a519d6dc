/**
 * Packs the package once and installs it where nothing else is: what every test of it starts from.
 * @module
 */
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { findOnPath } from "../../scripts/on-path.mjs";
import { NPM_QUIET, ROOT, run } from "./run.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** What `npm pack` made. */
    readonly tarball: string;
    /** A project with the package installed, outside of the checkout. */
    readonly app: string;
    /** A PATH on which are node, npm and sh, and nothing else. */
    readonly path: string;
  }
}

let place: string | undefined;

/** Vitest calls this before the first test. The build is the caller's: nothing is built again here. */
export async function setup(project: TestProject): Promise<void> {
  place = await realpath(await mkdtemp(join(tmpdir(), "sluice-package-")));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", place], { cwd: ROOT });
  const [packed = ""] = (await readdir(place)).filter((name) => name.endsWith(".tgz"));
  const tarball = join(place, packed);

  const path = join(place, "bin");
  await mkdir(path);
  await symlink(process.execPath, join(path, "node"));
  for (const name of ["npm", "sh"]) await symlink(findOnPath(name) ?? name, join(path, name));

  const app = join(place, "app");
  await cp(join(ROOT, "tests/package/app"), app, { recursive: true });
  await writeFile(join(app, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("npm", ["install", ...NPM_QUIET, tarball], { cwd: app, path });

  project.provide("tarball", tarball);
  project.provide("app", app);
  project.provide("path", path);
}

/** And this after the last. */
export async function teardown(): Promise<void> {
  if (place !== undefined) await rm(place, { recursive: true, force: true });
}
