/**
 * A program with all that it started, to be ended (Node).
 * @module
 */
import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { childEnvironment } from "../../transports/server-process.js";

/** How long, in milliseconds, programs may take to end after SIGTERM. */
const GRACE = 2000;

/** Milliseconds between two looks at whether they have. */
const PAUSE = 25;

/** One of the system's processes; the moment of its start tells it from a later one with the same id. */
interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly started: string;
}

/** Ends a program that has answered nothing, and so has nothing to finish. */
export function endAtOnce(pid: number | null): void {
  if (pid !== null) signalGroup(pid, "SIGTERM");
}

/**
 * Ends a program that leads a group of its own, and all that it started: SIGTERM, and two seconds later SIGKILL for what is
 * still there. On Linux also what left the group; what did and has lost its parent by then is not found.
 */
export async function killTree(pid: number): Promise<void> {
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(pid), "/t", "/f"], {
      stdio: "ignore",
      windowsHide: true,
      env: childEnvironment(),
    }).on("error", ignore);
    return;
  }
  const strays = await descendants(pid);
  signalGroup(pid, "SIGTERM");
  for (const stray of strays) signal(stray.pid, "SIGTERM");
  for (
    let waited = 0;
    waited < GRACE && (isThere(-pid) || strays.some(({ pid: each }) => isThere(each)));
    waited += PAUSE
  )
    await sleep(PAUSE);
  const late = (await descendants(pid)).concat(await still(strays));
  signalGroup(pid, "SIGKILL");
  for (const stray of late) signal(stray.pid, "SIGKILL");
}

/** Processes that a process started, and those that they did. Empty where the system does not tell as Linux does. */
async function descendants(root: number): Promise<readonly Process[]> {
  const all = await processes();
  const found = new Set([root]);
  // Ids go round: a child may have a lower one than its parent.
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return all.filter(({ pid }) => found.has(pid));
}

/** Those of these that are the same process as before. */
async function still(known: readonly Process[]): Promise<readonly Process[]> {
  const now = await Promise.all(known.map(({ pid }) => processOf(String(pid))));
  return known.filter(({ started }, index) => now[index]?.started === started);
}

async function processes(): Promise<readonly Process[]> {
  if (process.platform !== "linux") return [];
  const names = await readdir("/proc").catch(() => []);
  const all = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(processOf));
  return all.filter((each) => each !== undefined);
}

/** Undefined where it is gone. */
async function processOf(pid: string): Promise<Process | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // The name in brackets may hold spaces and brackets itself; behind it comes the third field, the fourth is the parent.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { pid: Number(pid), parent: Number(fields[1]), started: fields[19] ?? "" };
}

function signalGroup(leader: number, name: NodeJS.Signals): void {
  // Except on Windows, where there are no groups.
  signal(process.platform === "win32" ? leader : -leader, name);
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    // It has gone.
    return false;
  }
}

function isThere(pid: number): boolean {
  return signal(pid, 0);
}

function ignore(): void {
  // Whoever cannot be ended so ends with its input.
}
