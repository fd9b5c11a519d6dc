/**
 * `npm run makers`: files of every trade by real programs, and what is said of each: right, generic or wrong. Not for CI: it installs Debian
 * packages, as root, and npm packages in a temporary folder. Trades may be named, as in `npm run makers -- office media`; `--folder DIR`
 * keeps the files; `--no-install` takes what is there; `--table FILE` writes the table as Markdown, `--json FILE` all that was seen.
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
 * @property {string[]} [program] the command that tells the version of what is in no such package
 * @property {string} [shell] makes the files, in bash
 * @property {string} [python] or in Python
 * @property {string} [node] or as a module
 * @property {Record<string, (string | RegExp)[]>} files by name: what a description has to say, the kind first
 */

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: "string" },
    json: { type: "string" },
    table: { type: "string" },
    "no-install": { type: "boolean" },
  },
});

const { createSluice } = await import(pathToFileURL(join(root, "dist/index.js")).href);
const sluice = await createSluice({ store: "memory" });
const [reader] = sluice.tools({ namespace: "makers" });
const folder = resolve(options.folder ?? mkdtempSync(join(tmpdir(), "makers-")));
mkdirSync(folder, { recursive: true });
const trades = positionals.length > 0 ? positionals : TRADES;
const seen = [];
for (const trade of trades) {
  const { makers } = await import(`./${trade}.mjs`);
  if (options["no-install"] !== true) install(makers);
  const place = join(folder, trade);
  mkdirSync(place, { recursive: true });
  for (const maker of makers) {
    makeFiles(maker, place);
    for (const [name, facts] of Object.entries(maker.files)) {
      seen.push({
        trade,
        maker: maker.maker,
        version: readVersion(maker),
        name,
        ...(await judgeFile(place, name, facts)),
      });
    }
  }
}
printTable(seen);
if (options.table !== undefined) writeTable(options.table, seen);
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(seen, null, 2));
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
      SLUICE_ROOT: root,
    },
  });
  if (status !== 0) console.error(`${maker} failed: ${stderr.trim().slice(-400)}`);
}

/** What is said of a file that streams, that stands in a result as a blob, and as Base64 in its text; and how a model may read on. */
async function judgeFile(place, name, facts) {
  const path = join(place, name);
  if (!existsSync(path)) return { verdict: "not made", said: "" };
  const bytes = readFileSync(path);
  const looking = await sluice.look();
  looking.push(bytes);
  const { description: said } = await looking.finish();
  const blob = bytes.toString("base64");
  const asBlob = await pass({ type: "resource", resource: { uri: "file:///x", blob } });
  const asText = await pass({ type: "text", text: blob });
  return {
    verdict: judge(said, facts),
    said,
    asBlob: asBlob?.source.description,
    asText: asText?.source.description,
    next: asBlob && (await readOffer(asBlob.id)),
    ms: await measure(bytes),
  };
}

/** The artifact that a block of a result becomes, if it is stored. */
async function pass(block) {
  const { artifacts } = await sluice.transform({ content: [block] }, { tool: "read", namespace: "makers" });
  return artifacts[0];
}

/** The last sentence of `artifact_read`, which names the ways to read the artifact. */
async function readOffer(id) {
  const { content } = await reader.call({ uri: `artifact://${id}` });
  return content
    .map(({ text }) => text ?? "")
    .join("\n")
    .split("\n[sluice] ")
    .at(-1);
}

/** Milliseconds of processor time that one description takes. */
async function measure(bytes) {
  const turns = 20;
  await sluice.sniff(bytes, bytes.length);
  const before = process.cpuUsage();
  for (let turn = 0; turn < turns; turn++) await sluice.sniff(bytes, bytes.length);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / turns;
}

function findDebianVersion(name) {
  const { stdout } = spawnSync("dpkg-query", ["-W", "-f=${db:Status-Status} ${Version}", name], { encoding: "utf8" });
  return stdout.startsWith("installed ") ? stdout.slice("installed ".length) : "";
}

function readVersion({ debian, npm, program }) {
  if (program !== undefined) return spawnSync(program[0], program.slice(1), { encoding: "utf8" }).stdout.trim();
  if (debian !== undefined) return findDebianVersion(debian[0]);
  return npm === undefined ? "" : npm[0].slice(npm[0].lastIndexOf("@") + 1);
}

function printTable(all) {
  for (const { trade, maker, version, name, verdict, said } of all) {
    console.log(`${verdict.padEnd(8)} | ${trade} | ${name} | ${maker} ${version} | ${said.slice(0, 200)}`);
  }
  for (const sum of countVerdicts(all)) console.log(sum);
}

/** One line for each trade and one for all; how long descriptions take; how often another way says something else. */
function countVerdicts(all) {
  const lines = [...new Set(all.map(({ trade }) => trade)), "all"].map((trade) => {
    const some = trade === "all" ? all : all.filter((row) => row.trade === trade);
    const makers = new Set(some.map(({ maker }) => maker)).size;
    const sums = ["right", "generic", "wrong", "not made"].map(
      (verdict) => `${some.filter((row) => row.verdict === verdict).length} ${verdict}`,
    );
    return `${trade}: ${some.length} files by ${makers} makers: ${sums.join(", ")}`;
  });
  const times = all.flatMap(({ ms }) => (ms === undefined ? [] : [ms])).toSorted((one, other) => one - other);
  const shares = [0.5, 0.9, 0.95, 0.99].map(
    (share) => `${times[Math.floor(times.length * share)]?.toFixed(2)} ms for ${share * 100} %`,
  );
  const other = (way) => all.filter((row) => row[way] !== undefined && row[way] !== row.said).length;
  return [
    ...lines,
    `processor time of a description, at most: ${shares.join(", ")}, ${times.at(-1)?.toFixed(2)} ms for all`,
    `said otherwise: ${other("asBlob")} as a blob, ${other("asText")} as Base64 in a text`,
  ];
}

function writeTable(file, all) {
  const rows = all.map(({ trade, maker, version, name, verdict, said, next }) =>
    [trade, name, `${maker} ${version}`.trim(), verdict, said.slice(0, 240), next?.slice(0, 160)]
      .map(escapeCell)
      .join(" | "),
  );
  const head = ["trade | file | maker | | what is said | what artifact_read offers", "---|---|---|---|---|---"];
  writeFileSync(file, `${[...countVerdicts(all).map((line) => `- ${line}`), "", ...head, ...rows].join("\n")}\n`);
}

function escapeCell(text = "") {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
