/**
 * A user's files by their number: what looking one up costs, putting a version, putting a new one, and a list of all, in a folder and in
 * memory. `--against DIST` measures another build beside this one, in turn, and says how many times as fast this one is.
 *
 *     node scripts/bench/files/main.mjs [--quick] [--against ../other/dist]
 * @module
 */
import { mkdtemp, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { median } from "../measure.mjs";

const quick = process.argv.includes("--quick");
const at = process.argv.indexOf("--against");
const NUMBERS = quick ? [100, 1000] : [100, 1000, 10_000];
const ROUNDS = quick ? 3 : 5;
const OWNER = { user_id: "ada" };
const ROOT = resolve(import.meta.dirname, "../../..");

/** A build of the library. */
async function build(dist) {
  const load = (path) => import(pathToFileURL(join(dist, path)).href);
  const [{ FileArtifactStore }, { MemoryArtifactStore }, { UserStorage }] = await Promise.all([
    load("artifacts/file/file-store.js"),
    load("artifacts/memory.js"),
    load("files/user-storage.js"),
  ]);
  return { FileArtifactStore, MemoryArtifactStore, UserStorage };
}

const builds = { new: await build(join(ROOT, "dist")) };
if (at !== -1) builds.old = await build(resolve(process.argv[at + 1]));

/** As a version is kept: without looking for what there is, so that filling takes as long in every build. */
function fileInfo(index) {
  const namespace = `file-${index.toString(16).padStart(16, "0")}`;
  return { namespace, filename: `file ${index}.txt`, scope: OWNER, source: { user_file: { origin: "uploaded" } } };
}

async function filled(store, count) {
  for (let index = 0; index < count; index += 1) await store.putText(`content ${index}`, fileInfo(index));
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Milliseconds of each operation in each build: the builds in turn, so that a ratio holds when the machine's speed drifts. */
async function measured(open, count) {
  const subjects = {};
  for (const [name, { UserStorage, ...stores }] of Object.entries(builds)) {
    const store = await open(stores, name);
    await filled(store, count);
    subjects[name] = new UserStorage(store, OWNER);
    // What is noted once for a store is not what is measured.
    await subjects[name].find("file 0.txt");
  }
  let turn = 0;
  const works = {
    find: (files) => files.find(`file ${(turn * 7919) % count}.txt`),
    "put a version": (files) => files.put(`file ${(turn * 104_729) % count}.txt`, `version ${turn}`),
    "put a new one": (files) => files.put(`new ${turn}.txt`, `new ${turn}`),
    list: (files) => files.list(),
  };
  const found = {};
  for (const [work, run] of Object.entries(works)) {
    const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      turn += 1;
      for (const [name, files] of Object.entries(subjects)) times[name].push(await timed(() => run(files)));
    }
    found[work] = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
  }
  return found;
}

const root = await mkdtemp(join(tmpdir(), "sluice-bench-files-"));
const results = [];
try {
  for (const count of NUMBERS) {
    const kinds = {
      folder: async ({ FileArtifactStore }, name) => new FileArtifactStore(join(root, `${name}-${count}`)),
      memory: async ({ MemoryArtifactStore }) => new MemoryArtifactStore({ retention: null }),
    };
    for (const [kind, open] of Object.entries(kinds)) {
      for (const [work, times] of Object.entries(await measured(open, count))) {
        const ratio = times.old === undefined ? "" : `${(times.old / times.new).toFixed(1)} times as fast`;
        const old = times.old === undefined ? "" : `${times.old.toFixed(2)} ms before`;
        console.log([kind, `${count} files`, work, `${times.new.toFixed(2)} ms`, old, ratio].join("\t"));
        results.push({ kind, count, work, ...times });
      }
    }
  }
} finally {
  await rm(root, { recursive: true, force: true });
}
await mkdir(join(ROOT, "build"), { recursive: true });
await writeFile(join(ROOT, "build/bench-files.json"), `${JSON.stringify(results, null, 2)}\n`);
