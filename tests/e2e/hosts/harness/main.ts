/**
 * `npm run hosts`: runs real hosts in front of a model on loopback, with and without Sluice, and writes what their models get.
 * @module
 */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { selectCases } from "./cases.js";
import { type HarnessHost, HOSTS } from "./hosts.js";
import { installHost, runHost, type Way } from "./run.js";
import { type HostReport, listWorse, writeBetween, writeTables } from "./table.js";

const PAGE = fileURLToPath(new URL("../../../../docs/hosts.md", import.meta.url));

/** What was seen from this checkout. */
const SEEN = join(tmpdir(), `sluice-hosts-${createHash("sha256").update(PAGE).digest("hex").slice(0, 8)}.json`);

const OPTIONS = {
  cases: { type: "string", default: "" },
  plain: { type: "boolean", default: false },
  behind: { type: "boolean", default: false },
  json: { type: "string", default: SEEN },
  write: { type: "boolean", default: false },
} as const;

/** Installs the hosts that the command line names: all that needs a network. */
export async function prepare(args: readonly string[]): Promise<void> {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  for (const host of selectHosts(positionals)) await installHost(host);
}

/** Runs what the command line asks for. */
export async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  const cases = selectCases(values.cases.split(",").filter(Boolean));
  const ways: readonly Way[] =
    values.plain === values.behind ? ["plain", "behind"] : [values.plain ? "plain" : "behind"];
  const reports = await readReports(values.json);
  for (const host of selectHosts(positionals)) {
    const { word, title, version } = host;
    const report = { word, title, version, plain: {}, behind: {}, ...reports.get(word) };
    for (const way of ways) {
      console.error(`${word}, ${way} …`);
      const seen = await runHost(host, way, cases);
      for (const [name, { failure }] of seen) {
        if (failure !== undefined) console.error(`  ${name}: ${failure.trim().replaceAll(/\s+/g, " ").slice(-200)}`);
      }
      report[way] = { ...report[way], ...Object.fromEntries(seen) };
    }
    reports.set(word, report);
    await writeFile(
      values.json,
      JSON.stringify({ when: new Date().toISOString(), hosts: [...reports.values()] }, null, 1),
    );
  }
  const all = HOSTS.map(({ word }) => reports.get(word)).filter((report) => report !== undefined);
  const table = writeTables(all);
  console.log(table);
  for (const worse of listWorse(all)) console.log(worse);
  console.log(`\n${values.json}`);
  if (values.write) await writeBetween(PAGE, `Measured ${new Date().toISOString().slice(0, 10)}.\n\n${table}`);
}

function selectHosts(words: readonly string[]): readonly HarnessHost[] {
  const unknown = words.find((word) => !HOSTS.some((host) => host.word === word));
  if (unknown !== undefined)
    throw new Error(`There is no host "${unknown}": ${HOSTS.map(({ word }) => word).join(", ")}`);
  return HOSTS.filter(({ word }) => words.length === 0 || words.includes(word));
}

/** What runs before this one saw, so that one host can be measured again. */
async function readReports(file: string): Promise<Map<string, HostReport>> {
  try {
    const { hosts } = JSON.parse(await readFile(file, "utf8")) as { readonly hosts: readonly HostReport[] };
    return new Map(hosts.map((report) => [report.word, report]));
  } catch {
    return new Map();
  }
}
