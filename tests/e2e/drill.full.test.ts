/** A small day of two processes, with everything that goes wrong in one: as `npm run drill` runs it, over a folder and a small disk. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../unit/cli/command.js";

/** What holds however busy the machine is. The rest is judged by whoever runs the drill alone. */
const ALWAYS = /what was acknowledged|another's|\| events|runs of the chat|\| all else|the disk/;

test("a small day: nothing acknowledged is lost, shown to others, or told out of order, and runs end once", async () => {
  const words = [join(ROOT, "scripts/drill/main.mjs"), "--scale", "0.01", "--part", "folder", "--part", "disk"];
  const run = promisify(execFile)(process.execPath, words, { maxBuffer: 16 * 1024 * 1024 });
  const { stdout } = await run.catch((error: unknown) => error as { readonly stdout: string });
  const missed = stdout.split("\n").filter((line) => line.includes("**not met**") && ALWAYS.test(line));
  // Without root there is no small disk, and without libfaketime no clock that jumps.
  expect(missed.filter((line) => !line.includes("SKIPPED"))).toEqual([]);
  expect(stdout).toContain("artifacts");
}, 900_000);
