/** Connections to MCP servers that are given up, or closed in the middle of a call. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { STDIO, useFixture } from "./mcp/fixture.js";
import { call, opened, scripted, setting, until } from "./mcp/setting.js";

const fixture = useFixture();

it.each([
  ["stdio", "legacy"],
  ["stdio", "modern"],
  ["http", "legacy"],
  ["http", "modern"],
] as const)("a call in the middle of which the source is closed says so: %s, %s", async (transport, era) => {
  const at = await setting();
  const connection = await opened(fixture(at, transport, era), at);
  const slow = call(connection, "slow").catch((error: unknown) => error);
  // What is answered was sent after it.
  await call(connection, "greet", { name: "Ada" });
  await connection[Symbol.asyncDispose]();
  expect(await slow).toMatchObject({ code: "E_TOOL", message: "The source fix was closed: connect it again." });
});

/** The first that is started never answers, and takes its time when nobody listens any more; no two may run at once. */
const JEALOUS = `
import { existsSync, openSync, unlinkSync, writeFileSync } from "node:fs";
const [, folder, server] = process.argv.splice(0, 3, process.execPath);
const isFirst = !existsSync(folder + "/first");
openSync(folder + "/lock", "wx");
process.on("exit", () => unlinkSync(folder + "/lock"));
process.on("SIGTERM", () => process.exit());
if (isFirst) {
  process.stdin.on("end", () => setTimeout(() => writeFileSync(folder + "/late", ""), 1000)).resume();
  setInterval(() => undefined, 1000);
  writeFileSync(folder + "/first", "");
} else await import(server);`;

it("a program that never answered has gone when the next one starts, and is given no time that only works cost", async () => {
  const at = await setting();
  const folder = await mkdtemp(join(tmpdir(), "sluice-jealous-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const argv = [process.execPath, "--input-type=module", "-e", JEALOUS, folder, STDIO] as const;
  const source = scripted(at, JEALOUS, { argv });
  const abort = new AbortController();
  const reason = new Error("enough");
  const silent = opened(source, at, { signal: abort.signal });
  await until(() => (existsSync(join(folder, "first")) ? true : undefined));
  abort.abort(reason);
  await expect(silent).rejects.toBe(reason);
  await using connection = await opened(source, at);
  expect((await call(connection, "greet", { name: "Ada" })).reduced.value).toBe("Hello, Ada!");
  expect(existsSync(join(folder, "late"))).toBe(false);
});
