/**
 * `npm run makers`: files of every trade by real programs, and what is said of each: right, generic or wrong. Not for CI: it installs Debian
 * packages, as root, and npm packages in a temporary folder. Trades may be named, as in `npm run makers -- office media`; `--folder DIR`
 * keeps the files; `--no-install` takes what is there; `--json FILE` writes what was seen.
 * @module
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { root } from "../run.mjs";
import { judge } from "./judge.mjs";

/** Each is a module beside this one with an array `makers`. */
const TRADES = [
  "office",
  "text",
  "mail",
  "media",
  "archives",
  "data",
  "science",
  "medicine",
  "maps",
  "models",
  "network",
];

/** Seconds that a maker may take. */
const PATIENCE = 240;

/**
 * What makes some files.
 * @typedef {object} Maker
 * @property {string} maker what a person calls it
 * @property {string[]} [debian] the packages that it is in; the first one's version is told
 * @property {string[]} [npm] packages with exact versions, `name@1.2.3`; the first one's version is told
 * @property {string} [shell] makes the files, in bash
 * @property {string} [python] or in Python
 * @property {string} [node] or as a module
 * @property {Record<string, (string | RegExp)[]>} files by name: what a description has to say, the kind first
 */

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: "string" }, json: { type: "string" }, "no-install": { type: "boolean" } },
});

const folder = resolve(options.folder ?? mkdtempSync(join(tmpdir(), "makers-")));
const trades = positionals.length > 0 ? positionals : TRADES;
const rows = [];
for (const trade of trades) {
  const { makers } = await import(`./${trade}.mjs`);
  if (options["no-install"] !== true) install(makers);
  const place = join(folder, trade);
  mkdirSync(place, { recursive: true });
  for (const maker of makers) {
    makeFiles(maker, place);
    for (const [name, facts] of Object.entries(maker.files)) {
      rows.push({
        trade,
        maker: maker.maker,
        version: readVersion(maker),
        name,
        ...(await judgeFile(place, name, facts)),
      });
    }
  }
}
printTable(rows);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(rows, null, 2));
if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });

function install(makers) {
  const wanted = [...new Set(makers.flatMap(({ debian }) => debian ?? []))];
  const missing = wanted.filter((name) => findDebianVersion(name) === "");
  if (missing.length > 0) {
    runQuietly("apt-get", ["install", "-y", "--no-install-recommends", ...missing], {
      DEBIAN_FRONTEND: "noninteractive",
    });
  }
  const modules = join(folder, "node_modules");
  const packages = [...new Set(makers.flatMap(({ npm }) => npm ?? []))];
  const absent = packages.filter((spec) => !existsSync(join(modules, spec.slice(0, spec.lastIndexOf("@")))));
  if (absent.length === 0) return;
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, "package.json")))
    writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  runQuietly("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...absent], {});
}

function runQuietly(command, args, env) {
  const { status, stderr } = spawnSync(command, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (status !== 0) console.error(`${command} ${args.join(" ")}: ${stderr.slice(-300)}`);
}

/** Makes the files unless they are there. A maker that fails is named, and its files count as not made. */
function makeFiles({ maker, shell, python, node, files }, place) {
  if (Object.keys(files).every((name) => existsSync(join(place, name)))) return;
  const [command, args, input] =
    shell !== undefined
      ? ["bash", ["-e"], shell]
      : python !== undefined
        ? ["python3", ["-"], python]
        : [process.execPath, ["--input-type=module"], node];
  const { status, stderr } = spawnSync(command, args, {
    cwd: place,
    input,
    encoding: "utf8",
    timeout: PATIENCE * 1000,
    env: {
      ...process.env,
      PATH: `/usr/sbin:/usr/bin:/bin:${process.env.PATH}`,
      TZ: "UTC",
      SOURCE_DATE_EPOCH: "1700000000",
    },
  });
  if (status !== 0) console.error(`${maker} failed: ${stderr.trim().slice(-400)}`);
}

async function judgeFile(place, name, facts) {
  const path = join(place, name);
  if (!existsSync(path)) return { verdict: "not made", said: "" };
  const { createSluice } = await import(pathToFileURL(join(root, "dist/index.js")).href);
  globalThis.sluiceOfMakers ??= await createSluice({ store: "memory" });
  const bytes = readFileSync(path);
  const looking = await globalThis.sluiceOfMakers.look();
  looking.push(bytes);
  const { description: said } = looking.finish();
  const result = { content: [{ type: "resource", resource: { uri: "file:///x", blob: bytes.toString("base64") } }] };
  const seen = await globalThis.sluiceOfMakers.transform(result, { tool: "read", namespace: "makers" });
  const passed = seen.artifacts[0]?.description ?? "";
  const started = performance.now();
  for (let turn = 0; turn < 5; turn++) globalThis.sluiceOfMakers.sniff(bytes, bytes.length);
  return {
    verdict: judge(said, facts),
    said,
    passed: passed === said ? undefined : passed,
    ms: (performance.now() - started) / 5,
  };
}

function findDebianVersion(name) {
  const { stdout } = spawnSync("dpkg-query", ["-W", "-f=${db:Status-Status} ${Version}", name], { encoding: "utf8" });
  return stdout.startsWith("installed ") ? stdout.slice("installed ".length) : "";
}

function readVersion({ debian, npm }) {
  if (debian !== undefined) return findDebianVersion(debian[0]);
  return npm === undefined ? "" : npm[0].slice(npm[0].lastIndexOf("@") + 1);
}

function printTable(all) {
  for (const { trade, maker, version, name, verdict, said } of all) {
    console.log(`${verdict.padEnd(8)} | ${trade} | ${name} | ${maker} ${version} | ${said.slice(0, 200)}`);
  }
  for (const trade of [...new Set(all.map((row) => row.trade)), "all"]) {
    const some = trade === "all" ? all : all.filter((row) => row.trade === trade);
    const count = (verdict) => some.filter((row) => row.verdict === verdict).length;
    const makers = new Set(some.map((row) => row.maker)).size;
    const sums = ["right", "generic", "wrong", "not made"].map((verdict) => `${count(verdict)} ${verdict}`);
    console.log(`${trade}: ${some.length} files by ${makers} makers: ${sums.join(", ")}`);
  }
  const times = all.flatMap(({ ms }) => (ms === undefined ? [] : [ms])).toSorted((one, other) => one - other);
  console.log(`a description: ${times[Math.floor(times.length * 0.95)]?.toFixed(2)} ms or less for 95 %`);
}
