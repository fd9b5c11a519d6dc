/**
 * Compiles the `sqlite3` of the database server that the tests call: npm has it as source alone.
 * @module
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./run.mjs";

/**
 * Does nothing, quickly, when it is there already. It is made for tests of one server: where it cannot be compiled it
 * says so, and they are skipped.
 * @param {string} folder whose `node_modules` has it
 */
export async function buildSqlite(folder) {
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
