/**
 * The public suites, scenario by scenario: the fixture is a server as the specification wants it, and behind the proxy it is
 * judged as it is judged directly. The brief run has one way to the proxy for each suite; the full run has all three.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NODE_VERSIONS, nodeFolder } from "../package/nodes.js";
import { FIXTURE, listening } from "./http/proxies.js";
import { serveFixture, type Serving } from "./serving.js";

/** A suite of scenarios. */
interface Suite {
  readonly name: string;
  /** In `node_modules`, beside this file. */
  readonly package: string;
  readonly args: readonly string[];
}

/** The released suite, and both revisions of the next one, with what they do not score yet. */
const SUITES: readonly Suite[] = [
  { name: "released suite", package: "@modelcontextprotocol/conformance", args: ["--suite", "all"] },
  { name: "next suite, 2025-11-25", package: "conformance-next", args: ["--requirements", "2025-11-25"] },
  { name: "next suite, 2026-07-28", package: "conformance-next", args: ["--requirements", "2026-07-28"] },
];

/** What a check said. */
type Status = "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";

/** A check of a scenario. */
interface Check {
  readonly id: string;
  readonly name: string;
  readonly status: Status;
  readonly errorMessage?: string;
}

/** Checks by scenario, in the order they were made. */
type Outcome = Readonly<Record<string, readonly Check[]>>;

/** The suites need `fs.globSync`. */
const NODE = NODE_VERSIONS.find((version) => Number.parseInt(version, 10) >= 22) ?? NODE_VERSIONS[0];

const PATIENCE = 300_000;

/**
 * Runs all scenarios of a suite, one after the other.
 *
 * @param url of the server's endpoint; it has to name this machine
 * @param scenario runs this one alone
 */
async function runSuite(suite: Suite, url: string, scenario?: string): Promise<Outcome> {
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
function complaints(outcome: Outcome): readonly string[] {
  return Object.entries(outcome).flatMap(([scenario, checks]) =>
    checks
      .filter(({ status }) => status === "FAILURE" || status === "WARNING")
      .map(({ id, errorMessage = "" }) => `${scenario}: ${id}: ${errorMessage}`),
  );
}

/** Whether a scenario passed, by scenario. */
function verdicts(outcome: Outcome): Readonly<Record<string, boolean>> {
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

/** What the suite itself skips for any server. */
const SKIPPED = ["tasks-status-notifications"];

/** Bytes in a result become sentences, which is what the proxy is for: these scenarios want the bytes. */
const TOUCHED = ["tools-call-audio", "tools-call-image", "tools-call-mixed-content", "tools-call-embedded-resource"];

let fixture: Serving;
let store: string;

beforeAll(async () => {
  fixture = await serveFixture();
  store = await mkdtemp(join(tmpdir(), "sluice-conformance-store-"));
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await rm(store, { recursive: true, force: true });
});

const outcomes = new Map<Suite, Promise<Outcome>>();

/** What a suite says of the fixture itself, asked once. */
function direct(suite: Suite): Promise<Outcome> {
  const outcome = outcomes.get(suite) ?? runSuite(suite, fixture.url);
  outcomes.set(suite, outcome);
  return outcome;
}

/** Scenarios of which the proxy changes the verdict. */
async function changed(suite: Suite, args: readonly string[]): Promise<readonly string[]> {
  await using proxy = await listening(["--store", store, ...args]);
  const [before, behind] = (await Promise.all([direct(suite), runSuite(suite, proxy.url)])).map(verdicts);
  const scenarios = Object.keys(before ?? {});
  expect(Object.keys(behind ?? {}).sort()).toEqual([...scenarios].sort());
  return scenarios.filter((scenario) => before?.[scenario] !== behind?.[scenario]);
}

describe.each(SUITES)("the $name", (suite) => {
  test("finds the fixture as the specification wants it", async () => {
    const outcome = await direct(suite);
    expect(complaints(outcome)).toEqual([]);
    expect(Object.keys(outcome).length).toBeGreaterThanOrEqual(30);
    const idle = Object.entries(outcome).filter(([, checks]) => !checks.some(({ status }) => status === "SUCCESS"));
    expect(SKIPPED).toEqual(expect.arrayContaining(idle.map(([scenario]) => scenario)));
  }, 300_000);

  test("judges a server at an address the same behind the proxy", async () => {
    const scenarios = await changed(suite, ["--url", fixture.url]);
    expect(scenarios.filter((scenario) => !TOUCHED.includes(scenario))).toEqual([]);
  }, 300_000);

  test("judges a command the same behind the proxy", async () => {
    const scenarios = await changed(suite, ["--", ...FIXTURE]);
    expect(scenarios.filter((scenario) => !TOUCHED.includes(scenario))).toEqual([]);
  }, 300_000);

  test("finds nothing changed where the proxy is told to pass everything", async () => {
    expect(await changed(suite, ["--bypass", "--url", fixture.url])).toEqual([]);
  }, 300_000);
});

test("a server that does not answer is a complaint", async () => {
  const [suite] = SUITES;
  if (suite === undefined) throw new Error("no suites");
  // Port 1 is nobody's.
  expect(complaints(await runSuite(suite, "http://127.0.0.1:1/mcp", "ping"))).toHaveLength(1);
});
