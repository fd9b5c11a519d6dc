/** The public suites, scenario by scenario: a server behind the proxy is judged as it is judged directly. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runSuite, SUITES, verdicts, type Suite } from "./conformance.js";
import { FIXTURE, listening } from "./http/proxies.js";
import { serveFixture, type Serving } from "./serving.js";

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

/** Scenarios of which the proxy changes the verdict. */
async function changed(suite: Suite, args: readonly string[]): Promise<readonly string[]> {
  await using proxy = await listening(["--store", store, ...args]);
  const [direct, proxied] = [await runSuite(suite, fixture.url), await runSuite(suite, proxy.url)].map(verdicts);
  const scenarios = Object.keys(direct ?? {});
  expect(Object.keys(proxied ?? {}).sort()).toEqual([...scenarios].sort());
  return scenarios.filter((scenario) => direct?.[scenario] !== proxied?.[scenario]);
}

describe.each(SUITES)("the $name", (suite) => {
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
