/**
 * One run of a host: an empty home, a model on loopback, a time limit.
 * @module
 */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { FakeModel } from "../fake-model.js";
import type { HostCase } from "./cases.js";
import { Driver } from "./driver.js";
import type { HarnessHost } from "./hosts.js";
import { install, installNode } from "./install.js";
import { noteFailure, type Seen } from "./seen.js";

/** Whether Sluice stands in front of the server. */
export type Way = "plain" | "behind";

const COMMAND = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));

/** Seconds that a run may take: to start, and for each case. */
const START_SECONDS = 90;
const CASE_SECONDS = 8;

/** Characters of a host's output that are kept to say why it failed. */
const KEPT = 4000;

/** Runs a host until each case was seen or given up. */
export async function runHost(
  host: HarnessHost,
  way: Way,
  cases: readonly HostCase[],
): Promise<ReadonlyMap<string, Seen>> {
  const seen = new Map<string, Seen>();
  const late = cases.filter((entry) => entry.late !== undefined);
  let left = cases.filter((entry) => entry.late === undefined);
  const tries = new Map<string, number>();
  while (left.length > 0) {
    const { driver, output } = await runOnce(host, way, left.slice(0, host.batch));
    for (const [name, each] of driver.seen) seen.set(name, each);
    const stuck = driver.pending ?? left.find(({ name }) => !seen.has(name));
    left = left.filter(({ name }) => !seen.has(name));
    if (stuck === undefined || !left.includes(stuck)) continue;
    const count = (tries.get(stuck.name) ?? 0) + 1;
    tries.set(stuck.name, count);
    if (count < MAX_TRIES) continue;
    seen.set(stuck.name, noteFailure(driver.prompts.length === 0 ? `no request: ${output}` : output));
    left = left.filter((entry) => entry !== stuck);
    // A host that never asks its model does not do so for other cases.
    if (driver.prompts.length === 0) {
      for (const { name } of left) seen.set(name, noteFailure("no request"));
      left = [];
    }
  }
  for (const entry of late) {
    const { driver } = await runOnce(host, way, [entry], entry.late);
    seen.set(entry.name, driver.seen.get(entry.name) ?? noteFailure("no request"));
  }
  return seen;
}

/** Runs that a case may spoil. */
const MAX_TRIES = 2;

interface Run {
  readonly driver: Driver;
  /** The end of what the host printed. */
  readonly output: string;
}

async function runOnce(host: HarnessHost, way: Way, cases: readonly HostCase[], late = 0): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-run-"));
  try {
    return await runIn(folder, host, way, cases, late);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runIn(
  folder: string,
  host: HarnessHost,
  way: Way,
  cases: readonly HostCase[],
  late: number,
): Promise<Run> {
  const [home, store] = [join(folder, "home"), join(folder, "store")];
  await mkdir(home);
  const direct = [SERVER, ...(late > 0 ? ["--late", String(late)] : [])];
  const proxy = [COMMAND, "proxy", "--store", store, "--namespace", "fix", "--", process.execPath];
  const node = host.hasNewerNode === true ? await installNode() : process.execPath;
  await using model = await FakeModel.start();
  const driver = new Driver(cases);
  model.answerBy((request) => driver.answer(request));
  const {
    command,
    args,
    env = {},
    files = {},
  } = host.start({
    folder: await install(host.packages, node),
    home,
    node,
    origin: model.origin,
    url: model.url,
    server: { command: process.execPath, args: way === "plain" ? direct : [...proxy, ...direct] },
  });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), typeof text === "string" ? text : JSON.stringify(text));
  }
  const seconds = START_SECONDS + CASE_SECONDS * cases.length;
  const output = await runCommand(command, args, { cwd: home, env: { ...cleanEnv(home, node), ...env } }, seconds);
  return { driver, output };
}

/** Nothing of who runs the harness; and no way out, for hosts that would look for updates. */
function cleanEnv(home: string, node: string): Record<string, string> {
  const nowhere = "http://127.0.0.1:9";
  return {
    HOME: home,
    PATH: [dirname(node), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    LANG: "C.UTF-8",
    TMPDIR: tmpdir(),
    HTTP_PROXY: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: "127.0.0.1,localhost",
    no_proxy: "127.0.0.1,localhost",
    DO_NOT_TRACK: "1",
    CI: "1",
  };
}

/** Runs a command with its children in a group of their own, which all end with it. @returns the end of its output */
async function runCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
  seconds: number,
): Promise<string> {
  const child = spawn(command, args, { ...options, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const take = (chunk: string): void => {
    output = (output + chunk).slice(-KEPT);
  };
  child.stdout.setEncoding("utf8").on("data", take);
  child.stderr.setEncoding("utf8").on("data", take);
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // The whole group has ended.
    }
  };
  const limit = setTimeout(() => {
    take(`\nended after ${seconds} s`);
    kill();
  }, seconds * 1000);
  await new Promise<void>((resolve) => {
    child.once("error", (error) => {
      take(`\n${error.message}`);
      resolve();
    });
    child.once("exit", (code, signal) => {
      take(`\nexit: ${code ?? signal ?? ""}`);
      resolve();
    });
  });
  clearTimeout(limit);
  kill();
  return output.trim();
}
