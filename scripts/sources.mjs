/**
 * The C++ files that are ours.
 * @module
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/** Paths from the checkout's root of all `.h` and `.cpp` files under `folders`. */
export function cppSources(folders = ["wasm", "tests/cpp", "tests/fuzz"]) {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true })
        .filter((name) => /\.(h|cpp)$/.test(name))
        .map((name) => join(folder, name)),
    )
    .toSorted((a, b) => a.localeCompare(b, "en"));
}
