/**
 * Brings a machine to the point where everything can be built and tested. Does nothing, quickly, when
 * it is there already. Needs node alone: it runs before `npm ci`.
 * @module
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { missing } from "./requirements.mjs";
import { root, run } from "./run.mjs";
import { buildSqlite } from "./setup-sqlite.mjs";

/** Purposes that run the tests. */
const TESTING = new Set(["test", "coverage"]);

/** Real servers and clients, with a lock file of their own. */
const servers = join(root, "tests", "e2e");

/** A machine that setup may not or cannot change; the message is one sentence that says what to do. */
export class SetupError extends Error {}

/**
 * @param {import("./requirements.mjs").Purpose} purpose
 * @throws {SetupError}
 */
export async function setup(purpose) {
  checkNode();
  await installPackages(purpose);
  await installModules(root, "npm packages", ["ci"]);
  if (!TESTING.has(purpose)) return;
  // Not `ci`: one of them names an optional package that no registry has, which `ci` takes for a fault of the lock
  // file. No scripts: what these would do is to fetch browsers.
  await installModules(servers, "the servers that the tests call", ["install", "--no-save", "--ignore-scripts"]);
  await buildSqlite(servers);
}

/** Runs a script's main function; a SetupError becomes its sentence and exit code 1. */
export async function main(body) {
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    if (!(error instanceof SetupError)) console.error(error.message);
    else console.error(`setup: ${error.message}`);
    process.exitCode = 1;
  }
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new SetupError(
      `Node ${process.versions.node} is too old: install Node 20.19 or later from https://nodejs.org.`,
    );
  }
}

async function installPackages(purpose) {
  const needs = missing(purpose);
  const demanded = needs.filter((need) => !need.optional);
  const packages = needs.map((need) => need.debian);
  const names = demanded.map((need) => need.name).join(", ");
  if (!existsSync("/etc/debian_version")) {
    if (demanded.length === 0) return;
    throw new SetupError(
      `Install ${names} with your system's package manager (on macOS: brew install emscripten cmake ninja ` +
        `nlohmann-json ccache llvm clang-format, and brew install --cask google-chrome), then run this again.`,
    );
  }
  if (packages.length === 0) return;
  if (process.getuid?.() !== 0) {
    if (demanded.length === 0) return;
    throw new SetupError(
      `Run \`sudo apt-get install --no-install-recommends ${packages.join(" ")}\` to install ${names}, then run this again.`,
    );
  }
  await apt(packages);
  const still = missing(purpose).filter((need) => !need.optional);
  if (still.length > 0) {
    throw new SetupError(
      `This release of Debian has no usable ${still.map((need) => need.name).join(", ")}: ` +
        `install it by hand and put it on the PATH, then run this again.`,
    );
  }
}

async function apt(packages) {
  console.log(`setup: installing ${packages.join(" ")} with apt-get (a few minutes on a new machine)`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update", "-q"], { show: "failure", env });
  if (packages.includes("emscripten")) keepNode();
  const install = ["install", "-q", "-y", "--no-install-recommends", ...packages];
  const { code } = await run("apt-get", install, { show: "failure", env });
  if (code !== 0) {
    throw new SetupError(
      `apt-get failed as shown above: repair it, or run \`apt-get ${install.slice(3).join(" ")}\` by hand, then run this again.`,
    );
  }
}

// Debian's emscripten depends on Debian's nodejs, an older node that would replace one which was put at
// /usr/bin/node by other means than dpkg. A diversion sends Debian's file elsewhere.
function keepNode() {
  const path = "/usr/bin/node";
  if (!existsSync(path) || succeeds("dpkg-query", ["-S", path])) return;
  succeeds("dpkg-divert", ["--local", "--no-rename", "--divert", `${path}.debian`, "--add", path]);
}

function succeeds(command, args) {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

// node_modules is right when it was installed from this very lock file.
async function installModules(folder, what, command) {
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  const stamp = join(folder, "node_modules", ".lock-sha256");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  console.log(`setup: installing ${what} from package-lock.json`);
  const npm = process.env.npm_execpath;
  const args = [...command, "--no-audit", "--no-fund", "--prefix", folder];
  const { code } = npm?.endsWith(".js")
    ? await run(process.execPath, [npm, ...args], { show: "failure" })
    : await run("npm", args, { show: "failure" });
  if (code !== 0)
    throw new SetupError(`npm ${command[0]} failed as shown above: check the network, then run this again.`);
  writeFileSync(stamp, lock);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    await setup("test");
    console.log("setup: everything is there");
  });
}
