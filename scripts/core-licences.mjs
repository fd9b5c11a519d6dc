/**
 * The licences of what C++ becomes: those of the libraries that are linked into it, in the versions that the build had.
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { must, root } from "./run.mjs";

/** `wasm/LICENSES.md` with what it leaves open. */
export async function coreLicences() {
  const output = await must("em-config", ["EMSCRIPTEN_ROOT"], { show: "failure" });
  const emscripten = output.trim().split("\n").at(-1);
  const read = (...path) => readFileSync(join(emscripten, ...path), "utf8");
  const filled = {
    sqlite: sqlite(),
    nlohmann: nlohmann(),
    emscripten: read("emscripten-version.txt").trim().replaceAll('"', ""),
    musl: read("system/lib/libc/musl/VERSION").trim(),
    llvm: llvm(read("system/lib/libcxx/include/__config")),
    MIT,
  };
  return readFileSync(join(root, "wasm/LICENSES.md"), "utf8").replaceAll(/\{(\w+)\}/g, (_, name) => filled[name]);
}

function sqlite() {
  const header = readFileSync(join(root, "node_modules/better-sqlite3/deps/sqlite3/sqlite3.h"), "utf8");
  return wanted(/define SQLITE_VERSION\s+"([\d.]+)"/.exec(header));
}

// CMake copied it there: all presets include that copy.
function nlohmann() {
  const header = ["detail/abi_macros.hpp", "json.hpp"]
    .map((name) => join(root, "build/include/nlohmann", name))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
  return ["MAJOR", "MINOR", "PATCH"]
    .map((part) => wanted(new RegExp(`NLOHMANN_JSON_VERSION_${part}\\s+(\\d+)`).exec(header)))
    .join(".");
}

// 13000 is 13.0.0, and 160002 is 16.0.2.
function llvm(config) {
  const number = Number(wanted(/define _LIBCPP_VERSION\s+(\d+)/.exec(config)));
  const unit = number < 100_000 ? 1000 : 10_000;
  const [major, rest] = [Math.floor(number / unit), number % unit];
  return `${major}.${Math.floor(rest / 100)}.${rest % 100}`;
}

function wanted(match) {
  if (match === null) throw new Error("A library of the core says its version in another way: mend core-licences.mjs.");
  return match[1];
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR
ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
