/** `sluice bridge`: who may use it, and what it leaves behind. */
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sluice } from "../../unit/cli/command.js";
import { isRunning } from "../faults/host.js";
import { bridge, calling, FIXTURE, messagesOf, post, session, upstream, type Serving } from "./proxies.js";

const APP = { origin: "https://app.example" };
const OTHER = { origin: "https://other.example" };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-bridge-"));
});

afterAll(() => rm(folder, { recursive: true }));

/** The fixture, which writes its process id into a file, a line for each process. */
const counted = (file: string): readonly string[] => ["sh", "-c", `echo $$ >> "$0"; exec "$@"`, file, ...FIXTURE];

const pidsIn = async (file: string): Promise<readonly number[]> =>
  (await readFile(file, "utf8")).trim().split("\n").map(Number);

/** The status of an `initialize` with these headers, among which Host may be one. */
async function statusOf(url: string, headers: Record<string, string>, method = "POST"): Promise<number | undefined> {
  const asked = request(url, { method, headers: { "content-type": "application/json", ...headers } });
  asked.end(
    method === "POST" ? JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }) : undefined,
  );
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.destroy();
  return response.statusCode;
}

describe("whoever", () => {
  let open: Serving;
  let named: Serving;

  beforeAll(async () => {
    [open, named] = await Promise.all([bridge(), bridge(FIXTURE, ["--origin", APP.origin, "--origin", "http://a:1/"])]);
  });

  afterAll(async () => {
    await Promise.all([open[Symbol.asyncDispose](), named[Symbol.asyncDispose]()]);
  });

  it("has the URL is answered, and nobody else", async () => {
    expect(open.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/mcp$/);
    expect(await statusOf(open.url, {})).toBe(200);
    for (const path of ["/mcp", "/", `/${"x".repeat(32)}/mcp`]) {
      for (const method of ["POST", "GET", "DELETE", "OPTIONS"])
        expect(await statusOf(new URL(path, open.url).href, APP, method)).toBe(404);
    }
    expect(await statusOf(open.url.replace(/mcp$/, "other"), {})).toBe(404);
  });

  it("comes by another name of this machine is refused", async () => {
    expect(await statusOf(open.url, { host: "bridge.example" })).toBe(403);
    expect(await statusOf(open.url, { host: new URL(open.url).host })).toBe(200);
  });

  it("is a page of the first origin that used it may go on, others may not", async () => {
    expect(await statusOf(open.url, OTHER, "OPTIONS")).toBe(405);
    expect(await statusOf(open.url, APP)).toBe(200);
    const refused = await post(open.url, calling(1, "text"), OTHER);
    expect([refused.status, await refused.text(), refused.headers.get("access-control-allow-origin")]).toEqual([
      403,
      "",
      null,
    ]);
    expect(await statusOf(open.url, {})).toBe(200);
    expect(open.said()).toContain(`used by ${APP.origin}`);
    expect(open.said()).toContain(`refused ${OTHER.origin}`);
  });

  it("is no page of a named origin was never let in", async () => {
    expect(await statusOf(named.url, OTHER)).toBe(403);
    expect(await statusOf(named.url, APP)).toBe(200);
    expect(await statusOf(named.url, { origin: "http://a:1" })).toBe(200);
  });

  it("reads standard error finds the token in its URL alone", async () => {
    const token = new URL(open.url).pathname.split("/")[1] ?? "";
    expect(open.said().split(token)).toHaveLength(2);
  });
});

describe("processes", () => {
  it("are one for each session, and end with it", async () => {
    const file = join(folder, "sessions");
    await using offered = await bridge(counted(file));
    const sessions = [await session(offered.url), await session(offered.url)] as const;
    const [first = 0, second = 0, ...others] = await pidsIn(file);
    expect([isRunning(first), isRunning(second), others]).toEqual([true, true, []]);
    const ended = await fetch(offered.url, { method: "DELETE", headers: { ...sessions[0], ...APP } });
    expect(ended.status).toBe(200);
    expect([isRunning(first), isRunning(second)]).toEqual([false, true]);
    const answer = await messagesOf(await post(offered.url, calling(1, "text"), { ...sessions[1], ...APP }));
    expect(answer).toMatchObject([{ id: 1, result: {} }]);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("end with the bridge, by %s", async (signal, code) => {
    const file = join(folder, signal);
    const offered = await bridge(counted(file));
    await Promise.all([session(offered.url), session(offered.url)]);
    const exit = once(offered.process, "exit");
    offered.process.kill(signal);
    expect(await exit).toEqual([code, null]);
    const pids = await pidsIn(file);
    expect(pids.map(isRunning)).toEqual([false, false]);
  });

  it("that cannot be started are told of on both sides", async () => {
    await using offered = await bridge(["no-such-server"]);
    const response = await post(offered.url, { jsonrpc: "2.0", id: 1, method: "initialize", params: {} }, APP);
    expect(await response.json()).toMatchObject({ id: 1, error: { message: expect.any(String) as unknown } });
    await expect.poll(offered.said).toContain('cannot start "no-such-server": there is no such command');
  });
});

it.each([
  [["bridge"], "bridge needs a server"],
  [["bridge", "--port", "x", "--", "true"], "--port wants a number"],
  [["bridge", "--port", "70000", "--", "true"], "--port wants a number"],
  [["bridge", "--origin", "app.example", "--", "true"], "--origin wants where a page comes from"],
  [["bridge", "--origin", "https://app.example/path", "--", "true"], "--origin wants where a page comes from"],
  [["bridge", "--store", "x", "--", "true"], "options of the command come behind --"],
])("%j is refused with the sentence that helps", async (args, sentence) => {
  const { code, stderr } = await sluice(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
});

it("a port that is taken is told of", async () => {
  await using taken = await upstream(() => undefined);
  const { code, stderr } = await sluice(["bridge", "--port", new URL(taken.url).port, "--", "true"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("cannot listen there")]);
});
