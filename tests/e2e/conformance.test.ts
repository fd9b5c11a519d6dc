/**
 * The public suites, scenario by scenario: the fixture is a server as the specification wants it, and behind the proxy it is
 * judged as it is judged directly. The brief run has one way to the proxy for each suite; the full run has all three.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFull } from "../support/full.js";
import { complaints, runSuite, SUITES, verdicts, type Outcome, type Suite } from "./conformance.js";
import { FIXTURE, listening } from "./http/proxies.js";
import { serveFixture, type Serving } from "./serving.js";

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
  const isReleased = suite.name === "released suite";

  test("finds the fixture as the specification wants it", async () => {
    const outcome = await direct(suite);
    expect(complaints(outcome)).toEqual([]);
    expect(Object.keys(outcome).length).toBeGreaterThanOrEqual(30);
    const idle = Object.entries(outcome).filter(([, checks]) => !checks.some(({ status }) => status === "SUCCESS"));
    expect(SKIPPED).toEqual(expect.arrayContaining(idle.map(([scenario]) => scenario)));
  }, 300_000);

  test.runIf(isFull || !isReleased)(
    "judges a server at an address the same behind the proxy",
    async () => {
      const scenarios = await changed(suite, ["--url", fixture.url]);
      expect(scenarios.filter((scenario) => !TOUCHED.includes(scenario))).toEqual([]);
    },
    300_000,
  );

  test.runIf(isFull || isReleased)(
    "judges a command the same behind the proxy",
    async () => {
      const scenarios = await changed(suite, ["--", ...FIXTURE]);
      expect(scenarios.filter((scenario) => !TOUCHED.includes(scenario))).toEqual([]);
    },
    300_000,
  );

  test.runIf(isFull)(
    "finds nothing changed where the proxy is told to pass everything",
    async () => {
      expect(await changed(suite, ["--bypass", "--url", fixture.url])).toEqual([]);
    },
    300_000,
  );
});

test("a server that does not answer is a complaint", async () => {
  const [suite] = SUITES;
  if (suite === undefined) throw new Error("no suites");
  // Port 1 is nobody's.
  expect(complaints(await runSuite(suite, "http://127.0.0.1:1/mcp", "ping"))).toHaveLength(1);
});
