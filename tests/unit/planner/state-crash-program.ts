/**
 * Keeps, claims, takes and forgets, says after each what is done, and dies by SIGKILL just before one of its calls to the file system.
 * Prints `through` when it gets that far.
 *
 * node state-crash-program FOLDER CALL
 */
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { FileStateStore } from "../../../web/src/planner/file-state-store.js";

const [folder = "", call = "0"] = process.argv.slice(2);
let left = Number(call);

for (const name of ["open", "writeFile", "mkdir", "rename", "unlink", "rmdir", "rm", "readdir"]) {
  const real = Reflect.get(fs, name) as (...words: unknown[]) => unknown;
  Reflect.set(fs, name, (...words: unknown[]): unknown => {
    if (left-- === 0) process.kill(process.pid, "SIGKILL");
    return Reflect.apply(real, fs, words);
  });
}
syncBuiltinESMExports();

const store = new FileStateStore(folder);
const binding = { trace_id: "trace", context_id: null, task_id: "task", agent_url: "https://agent.test" };

async function step(name: string, work: Promise<unknown>): Promise<void> {
  const outcome = await work;
  process.stdout.write(outcome === false ? `failed: ${name}\n` : `${name}\n`);
}

await step("kept", store.savePlannerState("kept", { run: "kept" }));
await step("saved", store.savePlannerState("done", { run: "done" }));
await step("event 1", store.saveEvent("trace", { kind: "1" }));
await step("claimed", store.claimPlannerState("done", "owner", 60));
await step("renewed", store.claimPlannerState("done", "owner", 60));
await step("updated", store.updatePlannerState("done", "owner", { run: "updated" }));
await step("updated again", store.updatePlannerState("done", "owner", { run: "updated again" }));
await step("released", store.releasePlannerState("done", "owner", "wait"));
await step("claimed again", store.claimPlannerState("done", "owner", 60));
await step("event 2", store.saveEvent("trace", { kind: "2" }));
await step("forgotten", store.releasePlannerState("done", "owner", "forget"));
await step("bound", store.saveRemoteBinding(binding));
await step("bound again", store.saveRemoteBinding(binding));
await step("asked", store.saveOAuthState("asked", "one", 600));
await step("asked again", store.saveOAuthState("asked", "two", 600));
await step("waits", store.saveOAuthState("waits", "still", 600));
await step(
  "answered",
  store.takeOAuthState("asked").then((taken) => taken === "two"),
);
process.stdout.write("through\n");
