/**
 * What has to be on the machine, how to see that it is, and which package brings it.
 * @module
 */
import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findChromium } from "./chromium.mjs";
import { findOnPath } from "./on-path.mjs";

/** What one may want to do, and whose requirements that has. */
const purposes = {
  build: ["build"],
  test: ["build", "test"],
  tidy: ["build", "test", "tidy"],
  coverage: ["build", "test", "coverage"],
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
    debian: "chromium",
  },
  {
    name: "Redis 7 or later (redis-server)",
    purpose: "test",
    found: () => onPath("redis-server"),
    debian: "redis-server",
  },
  ...["ceph-mon", "ceph-osd", "radosgw"].map((program) => ({
    name: `Ceph 16 or later (${program})`,
    purpose: /** @type {const} */ ("test"),
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
  { name: "clang-tidy", purpose: "tidy", found: () => onPath("clang-tidy"), debian: "clang-tidy" },
  {
    name: "llvm-cov and llvm-profdata",
    purpose: "coverage",
    found: () => onPath("llvm-cov") && onPath("llvm-profdata"),
    debian: "llvm",
  },
];

/**
 * The requirements for a purpose that this machine does not meet.
 * @param {Purpose} purpose
 */
export function missing(purpose) {
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
