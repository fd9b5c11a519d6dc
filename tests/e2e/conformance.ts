/**
 * The public conformance suites, run against a server's address.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NODE_VERSIONS, nodeFolder } from "../package/nodes.js";

/** A suite of scenarios. */
export interface Suite {
  readonly name: string;
  /** In `node_modules`, beside this file. */
  readonly package: string;
  readonly args: readonly string[];
}

/** The released suite, and both revisions of the next one, with what they do not score yet. */
export const SUITES: readonly Suite[] = [
  { name: "released suite", package: "@modelcontextprotocol/conformance", args: ["--suite", "all"] },
  { name: "next suite, 2025-11-25", package: "conformance-next", args: ["--requirements", "2025-11-25"] },
  { name: "next suite, 2026-07-28", package: "conformance-next", args: ["--requirements", "2026-07-28"] },
];

/** What a check said. */
export type Status = "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";

/** A check of a scenario. */
export interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  readonly errorMessage?: string;
}

/** Checks by scenario, in the order they were made. */
export type Outcome = Readonly<Record<string, readonly Check[]>>;

/** The suites need `fs.globSync`. */
const NODE = NODE_VERSIONS.find((version) => Number.parseInt(version, 10) >= 22) ?? NODE_VERSIONS[0];

const PATIENCE = 300_000;

/**
 * Runs all scenarios of a suite, one after the other.
 *
 * @param url of the server's endpoint; it has to name this machine
 * @param scenario runs this one alone
 */
export async function runSuite(suite: Suite, url: string, scenario?: string): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-conformance-"));
  const program = join(await nodeFolder(NODE), "node");
  const script = fileURLToPath(new URL(`node_modules/${suite.package}/dist/index.js`, import.meta.url));
  const which = scenario === undefined ? suite.args : ["--scenario", scenario];
  try {
    const said = await output(program, [script, "server", "--url", url, ...which, "--output-dir", folder], folder);
    const outcome = await outcomeIn(folder);
    if (Object.keys(outcome).length === 0) throw new Error(`The suite ran nothing:\n${said}`);
    return outcome;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Checks that say more than that all is well, as `scenario: check`. */
export function complaints(outcome: Outcome): readonly string[] {
  return Object.entries(outcome).flatMap(([scenario, checks]) =>
    checks
      .filter(({ status }) => status === "FAILURE" || status === "WARNING")
      .map(({ id, errorMessage = "" }) => `${scenario}: ${id}: ${errorMessage}`),
  );
}

/** Whether a scenario passed, by scenario. */
export function verdicts(outcome: Outcome): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    Object.entries(outcome).map(([scenario, checks]) => [scenario, checks.every(({ status }) => status !== "FAILURE")]),
  );
}

// A failed scenario is an exit code, and no failure of the run.
function output(program: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, timeout: PATIENCE, maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      resolve(`${stdout}\n${stderr}`.slice(-4_000)),
    );
  });
}

async function outcomeIn(folder: string): Promise<Outcome> {
  const outcome: Record<string, readonly Check[]> = {};
  for (const name of (await readdir(folder)).sort()) {
    const [, scenario] = /^server-(.+?)-\d{4}-\d{2}-\d{2}T/.exec(name) ?? [];
    if (scenario === undefined) continue;
    outcome[scenario] = JSON.parse(await readFile(join(folder, name, "checks.json"), "utf8")) as readonly Check[];
  }
  return outcome;
}
