/**
 * The disk is full: one process over a folder on a small disk of its own, which is mounted for this, filled, and freed again.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../run.mjs";
import { Stack } from "./stack.mjs";

const run = promisify(execFile);
const BYTES = 24 * 1024 * 1024;

/** The verdicts. Where nothing can be mounted there is one, which is not met. */
export async function fullDisk(folder, say) {
  const disk = join(folder, "disk");
  mkdirSync(disk, { recursive: true });
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${BYTES},mode=0700`, "drill", disk]);
  } catch {
    const seen = "SKIPPED: nothing can be mounted here, which takes root. This run is not whole";
    return { rows: [{ work: "the disk is full", seen, bar: "done", met: false }] };
  }
  try {
    say("the disk is full");
    const stack = await Stack.started(join(folder, "stack"), {
      store: "folder",
      isShared: false,
      place: join(disk, "store"),
    });
    try {
      return { rows: await filled(stack, disk) };
    } finally {
      await stack[Symbol.asyncDispose]();
    }
  } finally {
    await run("umount", [disk]);
  }
}

async function filled({ load, place, servers: [server] }, disk) {
  await load.order("phase", { name: "disk full" });
  // What others have on the disk: it is nearly full before anything is stored.
  writeFileSync(join(disk, "ballast"), Buffer.alloc(BYTES / 2));
  const full = await load.order("fill");
  const before = filesIn(place);
  const again = await load.order("fill");
  const after = filesIn(place);
  rmSync(join(disk, "ballast"));
  const freed = await load.order("unfill");
  const cli = join(root, "dist/cli/main.js");
  const check = (store) =>
    run(process.execPath, [cli, "store", "check", "--store", store]).then(
      () => 0,
      ({ code, stdout, stderr }) => `${code} ${stdout}${stderr}`,
    );
  await server.program.kill();
  const sound = await check(join(place, "sessions"));
  const isSound = sound === 0;
  return [
    {
      work: "the disk is full: uploads",
      seen: `${full.stored} stored, then ${full.refusals.join(", ")}; again ${again.refusals.join(", ")}`,
      bar: "507 E_STORE_FULL, and nothing else",
      met: full.stored > 0 && [...full.refusals, ...again.refusals].every((each) => each === "507 E_STORE_FULL"),
    },
    {
      work: "the disk is full: results of tools",
      seen: full.result,
      bar: "answered, and says what was not stored",
      met: full.isTold,
    },
    {
      work: "the disk is full: what is there",
      seen: `${full.intact} of ${full.kept} as they were; ${after - before} more files after more refusals; \`store check\`: ${isSound ? "sound" : String(sound).slice(0, 200)}`,
      bar: "all, nothing half-written",
      met: full.intact === full.kept && after <= before && isSound,
    },
    {
      work: "the disk has room again",
      seen: `${freed.stored} of ${freed.asked} stored, ${freed.intact} of ${freed.kept} as they were`,
      bar: "all",
      met: freed.stored === freed.asked && freed.intact === freed.kept,
    },
  ];
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}
