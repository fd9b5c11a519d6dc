/**
 * One run of a host: an empty home, a model on loopback, a time limit.
 * @module
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
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
const AGENTS = fileURLToPath(new URL("agents", import.meta.url));
const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));

/** Seconds within which a host asks its model, and asks it again. */
const START_SECONDS = 90;
const TURN_SECONDS = 60;

/** Seconds that a host gets to end when all was seen. */
const LAST_SECONDS = 15;

/** What `sluice install` would write for a server with that name. Some hosts change a hyphen. */
const NAMESPACE = "my-fix";

/** Characters of a host's output that are kept to say why it failed. */
const KEPT = 4000;

/** Installs a host, unless it is there. @returns its packages' folder, and the Node that runs it */
export async function installHost(host: HarnessHost): Promise<{ readonly packages: string; readonly node: string }> {
  const node = host.hasNewerNode === true ? await installNode() : process.execPath;
  return { packages: await install(host.packages, node), node };
}

/** Runs a host until each case was seen or given up. */
export async function runHost(
  host: HarnessHost,
  way: Way,
  cases: readonly HostCase[],
): Promise<ReadonlyMap<string, Seen>> {
  const seen = new Map<string, Seen>();
  const own = cases.filter(({ tool }) => host.without?.includes(tool ?? "") !== true);
  const late = own.filter((entry) => entry.late !== undefined);
  let left = own.filter((entry) => entry.late === undefined);
  const tries = new Map<string, number>();
  while (left.length > 0) {
    const { driver, output, isStuck } = await runOnce(host, way, left.slice(0, host.batch));
    for (const [name, each] of driver.seen) seen.set(name, each);
    const stuck = driver.pending ?? left.find(({ name }) => !seen.has(name));
    left = left.filter(({ name }) => !seen.has(name));
    if (stuck === undefined || !left.includes(stuck)) continue;
    const count = (tries.get(stuck.name) ?? 0) + (isStuck ? MAX_TRIES : 1);
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
  /** Whether it was ended, since it did not go on. */
  readonly isStuck: boolean;
}

async function runOnce(host: HarnessHost, way: Way, cases: readonly HostCase[], late = 0): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-run-"));
  try {
    return await runIn(folder, host, way, cases, late);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Keeps what a model is sent, if a folder is named for it: to see why a host does what it does. */
function keepPrompt(name: string, prompt: string): void {
  const folder = process.env["SLUICE_HOSTS_PROMPTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), prompt);
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
  const options = { late: late > 0 ? String(late) : undefined, without: host.without?.join() };
  const direct = [SERVER, ...Object.entries(options).flatMap(([name, value]) => (value ? [`--${name}`, value] : []))];
  const named = host.hostOption === undefined ? [] : ["--host", host.hostOption];
  const proxy = [COMMAND, "proxy", "--store", store, "--namespace", NAMESPACE, ...named, "--", process.execPath];
  await using model = await FakeModel.start();
  const driver = new Driver(cases);
  const { packages, node } = await installHost(host);
  // Beside its packages, so that it finds them.
  if (host.agent !== undefined) await copyFile(join(AGENTS, host.agent), join(packages, host.agent));
  const {
    command,
    args,
    env = {},
    files = {},
  } = host.start({
    folder: packages,
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
  const limit = new Limit(START_SECONDS);
  model.answerBy((request) => {
    if (!driver.isDone) limit.start(TURN_SECONDS);
    keepPrompt(`${host.word}-${way}-${model.prompts.length}.json`, request.prompt);
    const turn = driver.answer(request);
    // Some go on by themselves when they were told that all is done.
    if (driver.isDone && !limit.isLast) limit.start(LAST_SECONDS, { isLast: true });
    return turn;
  });
  const output = await runCommand(command, args, { cwd: home, env: { ...cleanEnv(home, node), ...env } }, limit);
  keepPrompt(`${host.word}-${way}-output.txt`, output);
  return { driver, output, isStuck: limit.isOver && !driver.isDone };
}

/** A time limit that starts again whenever a host goes on, until the last time. */
class Limit {
  isOver = false;
  isLast = false;
  #timer: NodeJS.Timeout | undefined;
  #end: () => void = () => undefined;

  constructor(readonly first: number) {}

  /** Calls `end` when it is over. */
  watch(end: () => void): void {
    this.#end = end;
    this.start(this.first);
  }

  start(seconds: number, { isLast = false } = {}): void {
    clearTimeout(this.#timer);
    this.isLast = isLast;
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#end();
    }, seconds * 1000);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#end = () => undefined;
  }
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
  limit: Limit,
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
  limit.watch(() => {
    take("\nended, since it did not go on");
    kill();
  });
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
  limit.stop();
  kill();
  await killLeft(options.cwd);
  return output.trim();
}

/** Ends what a host left running in a session of its own: all that has the run's home. */
async function killLeft(home: string): Promise<void> {
  const all = await readdir("/proc").catch(() => []);
  for (const pid of all.filter((name) => /^\d+$/.test(name))) {
    const env = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (!env.split("\0").includes(`HOME=${home}`)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}
