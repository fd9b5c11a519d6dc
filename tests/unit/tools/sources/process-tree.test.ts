/** Programs are ended with all that they started. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { endAtOnce, killTree } from "../../../../web/src/tools/sources/process-tree.js";
import { isRunning } from "../../../e2e/faults/host.js";

/** A program that leads a group, and what it says first: ids of processes. */
async function started(script: string): Promise<{ readonly child: ChildProcess; readonly pids: readonly number[] }> {
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"], detached: true });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, pids: JSON.parse(line) as number[] };
}

const STAYS = "setInterval(() => {}, 1000);";

test("also what has left its group, and has a name like nothing else", async () => {
  const inner = `process.on("SIGTERM", () => {}); process.title = "x) R 1 ("; ${STAYS} process.send(process.pid);`;
  const { child, pids } = await started(`
const { fork } = require("node:child_process");
const { writeFileSync } = require("node:fs");
const file = require("node:path").join(require("node:os").tmpdir(), "sluice-tree-" + process.pid + ".cjs");
writeFileSync(file, ${JSON.stringify(inner)});
const stray = fork(file, { detached: true });
stray.once("message", () => { require("node:fs").unlinkSync(file); console.log(JSON.stringify([process.pid, stray.pid])); });
`);
  await killTree(child.pid as number);
  await expect.poll(() => pids.filter(isRunning), { timeout: 20_000 }).toEqual([]);
});

test("what ends when it is asked to is not waited for", async () => {
  const { child } = await started(`console.log("[]"); ${STAYS}`);
  const ended = once(child, "exit");
  await killTree(child.pid as number);
  expect(await ended).toEqual([null, "SIGTERM"]);
});

test("one that has gone is no failure", async () => {
  const { child } = await started('console.log("[]");');
  await once(child, "exit");
  const pid = child.pid as number;
  expect(await killTree(pid)).toBeUndefined();
  expect(() => endAtOnce(pid)).not.toThrow();
  expect(() => endAtOnce(null)).not.toThrow();
});
