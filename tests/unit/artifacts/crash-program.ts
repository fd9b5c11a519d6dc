/**
 * Stores, changes and deletes a few artifacts, and dies by SIGKILL just before one of its calls to the file
 * system. Prints `done` when it gets through.
 *
 * node crash-program FOLDER CALL
 */
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { noise } from "./bytes.js";

const [folder = "", call = "0"] = process.argv.slice(2);
let left = Number(call);

/** The same functions, only that the one call that was asked for is never made. */
function mortal(functions: object, names: readonly string[]): void {
  for (const name of names) {
    const real = Reflect.get(functions, name) as (...words: unknown[]) => unknown;
    const last = function (this: unknown, ...words: unknown[]): unknown {
      if (left-- === 0) process.kill(process.pid, "SIGKILL");
      return Reflect.apply(real, this, words);
    };
    Reflect.set(functions, name, last);
  }
}

const handle = await fs.open(process.execPath);
mortal(Object.getPrototypeOf(handle) as object, ["write", "writeFile", "close"]);
mortal(fs, ["open", "writeFile", "mkdir", "link", "rename", "unlink", "rmdir", "rm"]);
syncBuiltinESMExports();

const store = new FileArtifactStore(folder);
const large = noise(1_200_000);
const small = noise(100);
const mine = { session_id: "mine" };
for (const data of [small, large]) {
  const { id } = await store.putBytes(data);
  await store.putBytes(data, { scope: mine });
  await store.putBytes(data, { filename: "renamed" });
  await store.update(id, { filename: "again" });
  await store.putBytes(data, { scope: mine, filename: "named" });
  await store.delete(id, mine);
}
await store.gc();
process.stdout.write("done");
