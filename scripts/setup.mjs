/**
 * Brings a machine to the point where everything can be built and tested. Does nothing, quickly, when it is there already. Needs node
 * alone: it runs before `npm ci`.
 * @module
 */
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { findChromium } from "./chromium.mjs";
import { findOnPath } from "./on-path.mjs";
import { root, run } from "./run.mjs";

/** What one may want to do, and whose requirements that has. */
const purposes = {
  build: ["build"],
  test: ["build", "test"],
  // What the long suites need besides.
  full: ["build", "test", "full"],
  tidy: ["build", "test", "tidy"],
  coverage: ["build", "test", "full", "coverage"],
  smoke: ["build", "test", "smoke"],
};

/**
 * @typedef {keyof typeof purposes} Purpose
 * @typedef {object} Requirement
 * @property {string} name how a person calls it
 * @property {Purpose} purpose what needs it
 * @property {() => boolean} found looks at the file system only: this runs before every command
 * @property {string} debian package of Debian 12
 * @property {boolean} [optional] nice to have: installed where that is possible, never demanded
 */

/** @type {Requirement[]} */
const requirements = [
  {
    name: "Emscripten 3.1.6 or later",
    purpose: "build",
    found: () => onPath("em++") && onPath("em-config"),
    debian: "emscripten",
  },
  { name: "CMake 3.22 or later", purpose: "build", found: () => onPath("cmake"), debian: "cmake" },
  { name: "Ninja", purpose: "build", found: () => onPath("ninja"), debian: "ninja-build" },
  {
    name: "nlohmann_json",
    purpose: "build",
    found: () => includeFolders().some((folder) => existsSync(join(folder, "nlohmann/json.hpp"))),
    debian: "nlohmann-json3-dev",
  },
  { name: "ccache", purpose: "build", found: () => onPath("ccache"), debian: "ccache", optional: true },
  { name: "a C++20 compiler (c++)", purpose: "test", found: () => onPath("c++"), debian: "g++" },
  { name: "clang++ 14 or later", purpose: "test", found: () => onPath("clang++"), debian: "clang" },
  { name: "clang-format", purpose: "test", found: () => onPath("clang-format"), debian: "clang-format" },
  { name: "libFuzzer and the sanitizers of clang", purpose: "test", found: hasFuzzer, debian: "libclang-rt-dev" },
  {
    name: "the source of GoogleTest (GOOGLETEST_SOURCE names its folder)",
    purpose: "test",
    found: () =>
      existsSync(join(process.env.GOOGLETEST_SOURCE ?? "/usr/src/googletest/googletest", "src/gtest-all.cc")),
    debian: "googletest",
  },
  {
    name: "Chromium or Chrome (SLUICE_CHROMIUM names its program)",
    purpose: "test",
    found: () => findChromium() !== undefined,
    debian: "chromium-headless-shell",
  },
  {
    name: "Redis 7 or later (redis-server)",
    purpose: "test",
    found: () => onPath("redis-server"),
    debian: "redis-server",
  },
  {
    name: "Prometheus 2 or later (prometheus)",
    purpose: "full",
    found: () => onPath("prometheus"),
    debian: "prometheus",
    optional: true,
  },
  {
    name: "libfaketime (faketime), for a clock that jumps",
    purpose: "full",
    found: () => process.platform !== "linux" || onPath("faketime"),
    debian: "faketime",
    optional: true,
  },
  ...["ceph-mon", "ceph-osd", "radosgw"].map((program) => ({
    name: `Ceph 16 or later (${program})`,
    purpose: /** @type {const} */ ("full"),
    found: () => onPath(program),
    debian: program,
  })),
  {
    name: "bubblewrap (bwrap)",
    purpose: "test",
    // There is none but for Linux, and the tests of sandboxes are skipped elsewhere.
    found: () => process.platform !== "linux" || onPath("bwrap"),
    debian: "bubblewrap",
  },
  ...["zsh", "fish"].map((shell) => ({
    name: `${shell}, to complete words in`,
    purpose: /** @type {const} */ ("full"),
    found: () => onPath(shell),
    debian: shell,
    optional: true,
  })),
  { name: "clang-tidy", purpose: "tidy", found: () => onPath("clang-tidy"), debian: "clang-tidy" },
  {
    name: "llvm-cov and llvm-profdata",
    purpose: "coverage",
    found: () => onPath("llvm-cov") && onPath("llvm-profdata"),
    debian: "llvm",
  },
  ...[
    ["debootstrap", "debootstrap"],
    ["haproxy", "haproxy"],
    ["ip", "iproute2"],
  ].map(([program, debian]) => ({
    name: program,
    purpose: /** @type {const} */ ("smoke"),
    found: () => onPath(program),
    debian,
  })),
];

/**
 * The requirements for a purpose that this machine does not meet.
 * @param {Purpose} purpose
 */
function missing(purpose) {
  return requirements.filter((need) => purposes[purpose].includes(need.purpose) && !need.found());
}

const onPath = (name) => findOnPath(name) !== undefined;

function includeFolders() {
  const prefixes = (process.env.CMAKE_PREFIX_PATH ?? "").split(delimiter).filter(Boolean);
  return ["/usr", "/usr/local", "/opt/homebrew", ...prefixes].map((prefix) => join(prefix, "include"));
}

// Debian keeps one folder for each version of LLVM. Elsewhere libFuzzer comes with clang.
function hasFuzzer() {
  if (!existsSync("/etc/debian_version")) return true;
  return entries("/usr/lib")
    .filter((path) => path.includes("/llvm-"))
    .flatMap((llvm) => entries(join(llvm, "lib/clang")))
    .flatMap((version) => entries(join(version, "lib/linux")))
    .some((path) => path.includes("libclang_rt.fuzzer-"));
}

function entries(folder) {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

/**
 * Does nothing, quickly, when it is there already. It is made for tests of one server: where it cannot be compiled it
 * says so, and they are skipped.
 * @param {string} folder whose `node_modules` has it
 */
async function buildSqlite(folder) {
  const modules = join(folder, "node_modules");
  const sqlite = join(modules, "sqlite3");
  if (existsSync(join(sqlite, "build", "Debug", "node_sqlite3.node"))) return;
  console.log("setup: compiling sqlite3 for the tests (half a minute)");
  const gyp = join(modules, "node-gyp", "bin", "node-gyp.js");
  // Ninja, for make need not be there; without optimisation, for that takes minutes.
  const configure = [gyp, "configure", "--debug", "-C", sqlite, ...headers(), "--", "-f", "ninja"];
  const configured = await run(process.execPath, configure, { show: "none" });
  const done =
    configured.code === 0 ? await run("ninja", ["-C", join(sqlite, "build", "Debug")], { show: "none" }) : configured;
  if (done.code === 0) return;
  console.log(done.output.split("\n").slice(-10).join("\n"));
  console.log("setup: sqlite3 could not be compiled, as shown above: the tests of its server will be skipped");
}

// Node's own, as it was installed; else node-gyp fetches them.
function headers() {
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  return existsSync(join(prefix, "include", "node", "node_api.h")) ? [`--nodedir=${prefix}`] : [];
}

/** Purposes that run the tests. */
const TESTING = new Set(["test", "full", "coverage"]);

/** Real servers and clients, with a lock file of their own. */
const servers = join(root, "tests", "e2e");

/** Runtimes and bundlers that the package is tried with, likewise. They are heavy: 800 MB. */
const runtimes = join(root, "tests", "package", "runtimes");

/** A machine that setup may not or cannot change; the message is one sentence that says what to do. */
class SetupError extends Error {}

/**
 * @param {import("./setup.mjs").Purpose} purpose
 * @throws {SetupError}
 */
export async function setup(purpose) {
  checkNode();
  await installPackages(purpose);
  // No scripts: of the one package that has any we compile the source of SQLite ourselves.
  await installModules(root, "npm packages", ["ci", "--ignore-scripts"]);
  if (!TESTING.has(purpose)) return;
  // Not `ci`: some of them name optional packages that not every registry has, which `ci` takes for a fault of the
  // lock file. No scripts: what these would do is to fetch browsers, and programs that packages for this machine have.
  const install = ["install", "--no-save", "--ignore-scripts"];
  await installModules(servers, "the servers that the tests call", install);
  await buildSqlite(servers);
  if (purpose === "full") await installModules(runtimes, "the runtimes that the package is tried in", install);
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
