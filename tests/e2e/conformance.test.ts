/** The fixture is a server as the specification wants it, so that a proxy in front of it is judged by the same scenarios. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { complaints, runSuite, SUITES } from "./conformance.js";
import { serveFixture, type Serving } from "./serving.js";

/** What the suite itself skips for any server. */
const SKIPPED = ["tasks-status-notifications"];

let fixture: Serving;

beforeAll(async () => {
  fixture = await serveFixture();
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

test.each(SUITES)("the fixture passes the $name", async (suite) => {
  const outcome = await runSuite(suite, fixture.url);
  expect(complaints(outcome)).toEqual([]);
  expect(Object.keys(outcome).length).toBeGreaterThanOrEqual(30);
  const idle = Object.entries(outcome).filter(([, checks]) => !checks.some(({ status }) => status === "SUCCESS"));
  expect(SKIPPED).toEqual(expect.arrayContaining(idle.map(([scenario]) => scenario)));
});

test("a server that does not answer is a complaint", async () => {
  const [suite] = SUITES;
  if (suite === undefined) throw new Error("no suites");
  // Port 1 is nobody's.
  expect(complaints(await runSuite(suite, "http://127.0.0.1:1/mcp", "ping"))).toHaveLength(1);
});
