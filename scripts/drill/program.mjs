/**
 * Programs that the drill starts, and ends whatever becomes of it.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

/** Runs a program until standard input ends, which it does with this process, however that ends. Says its process id first. */
const GUARDED = '"$@" & echo $!; cat >/dev/null; kill -9 $! 2>/dev/null; wait';

/** Milliseconds for a program to end by itself. */
const PATIENCE = 30_000;

/** A running program. */
export class Program {
  #guard;
  #closed;
  #lines;

  /** @param {import("node:child_process").ChildProcess} guard */
  constructor(guard, pid, lines) {
    this.#guard = guard;
    this.#lines = lines;
    this.#closed = once(guard, "close");
    this.pid = pid;
  }

  /** Starts a program. `log` is a file descriptor for what it says, `env` is added to the environment. */
  static async started(words, { env = {}, log = "ignore" } = {}) {
    const guard = spawn("sh", ["-c", GUARDED, "sh", ...words], {
      stdio: ["pipe", "pipe", log],
      env: { ...process.env, ...env },
    });
    const lines = createInterface(guard.stdout);
    const [pid] = await once(lines, "line");
    return new Program(guard, Number(pid), lines);
  }

  /** The next line that it prints. */
  async line() {
    const [line] = await once(this.#lines, "line");
    return line;
  }

  get isAlive() {
    return isAlive(this.pid);
  }

  signal(name) {
    process.kill(this.pid, name);
  }

  /** As `kill -9`. */
  async kill() {
    if (this.isAlive) this.signal("SIGKILL");
    await this.#end();
  }

  /** Asks it to end, and waits until it has. Returns milliseconds. */
  async terminate() {
    const begun = performance.now();
    if (this.isAlive) this.signal("SIGTERM");
    while (this.isAlive && performance.now() - begun < PATIENCE) await sleep(20);
    const took = performance.now() - begun;
    await this.#end();
    return took;
  }

  async #end() {
    this.#guard.stdin.end();
    await this.#closed;
  }

  /** Bytes of memory, open files, and milliseconds of processor time, as the system counts them. */
  get seen() {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    const ticks = readFileSync(`/proc/${this.pid}/stat`, "utf8").split(") ")[1].split(" ");
    const files = readdirSync(`/proc/${this.pid}/fd`).map((fd) => targetOf(`/proc/${this.pid}/fd/${fd}`));
    return {
      rss: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024,
      files: files.length,
      sockets: files.filter((target) => target.startsWith("socket:")).length,
      cpu: (Number(ticks[11]) + Number(ticks[12])) * MS_PER_TICK,
    };
  }
}

/** Linux counts in hundredths of a second, wherever Node runs. */
const MS_PER_TICK = 10;

function targetOf(path) {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

function isAlive(pid) {
  try {
    // What has ended and is not waited for yet lives no more.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until something holds, and gives it. Throws with `what` after `seconds`. */
export async function until(what, seconds, holds) {
  const last = performance.now() + seconds * 1000;
  for (;;) {
    const found = await Promise.resolve(holds()).catch(() => undefined);
    if (found !== undefined && found !== false && found !== null) return found;
    if (performance.now() > last) throw new Error(`${what} did not come about within ${seconds} s`);
    await sleep(50);
  }
}

/** A port that nobody listens at. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
