import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileStateStore } from "../../../web/src/planner/file-state-store.js";
import { bundled, printed, type Program } from "../artifacts/child.js";
import { dyingAtEach, type Dying } from "../artifacts/dying.js";
import { amount } from "../../support/full.js";

let program: Program;
let root: string;
beforeAll(async () => {
  program = await bundled("../planner/state-crash-program");
  root = await mkdtemp(join(tmpdir(), "sluice-crash-"));
});
afterAll(async () => {
  await program.dispose();
  await rm(root, { recursive: true });
});

/** What is wrong with a store whose process died before its call number `call`; through when it did not die. */
async function dying(call: number): Promise<Dying> {
  const folder = join(root, String(call));
  const lines = (await printed(program.start(folder, String(call)))).split("\n").filter((line) => line !== "");
  const said = new Set(lines);
  const wrong = lines.filter((line) => line.startsWith("failed"));
  const store = new FileStateStore(folder, { clock: () => Date.now() + 61_000 });
  const check = (holds: boolean, what: string): void => void (holds || wrong.push(what));

  const [kept, done] = [await store.loadPlannerState("kept"), await store.loadPlannerState("done")];
  check(JSON.stringify(kept) === '{"run":"kept"}' || (kept === null && !said.has("kept")), "what was kept is lost");
  const mayBeGone = !said.has("saved") || said.has("event 2");
  const run = done === null ? null : (done as { readonly run: string }).run;
  check(["done", "updated", "updated again"].includes(run ?? "") || (run === null && mayBeGone), "a run is lost");
  check(run !== "done" || !said.has("updated"), "an update is lost");
  check(run !== "updated" || !said.has("updated again"), "another update is lost");
  check(done === null || !said.has("forgotten"), "what was forgotten is there");
  check((await store.claimPlannerState("done", "other", 60)) === (done !== null), "the run cannot be claimed");
  check((await store.releasePlannerState("done", "other", "forget")) === (done !== null), "it cannot be forgotten");
  const kinds = (await store.loadHistory("trace")).map(({ event }) => event.kind);
  check(!said.has("event 1") || kinds[0] === "1", "an event is lost");
  check(!said.has("event 2") || kinds[1] === "2", "another event is lost");
  check(!said.has("bound") || (await store.loadRemoteBinding("trace", "task")) !== null, "a binding is lost");
  const takenFirst = await store.takeOAuthState("asked");
  check(!said.has("asked") || takenFirst !== null || said.has("waits"), "a request is lost");
  check(!said.has("asked again") || takenFirst !== "one", "an old request is there");
  check(!said.has("answered") || takenFirst === null, "a request can be answered twice");
  check((await store.takeOAuthState("asked")) === null, "what was replaced comes back");
  check(!said.has("waits") || (await store.takeOAuthState("waits")) === "still", "another request is lost");
  // Whatever was left must not be in the way of the next.
  await store.savePlannerState("done", { run: "new" });
  check(await store.claimPlannerState("done", "other", 60), "nothing can be kept");
  await store.saveEvent("trace", { kind: "3" });
  check((await store.loadHistory("trace")).at(-1)?.event.kind === "3", "nothing can be said");
  await rm(folder, { recursive: true });
  return { through: said.has("through"), wrong };
}

test("a process may die before any of its calls to the file system", async () => {
  const { wrong, through, died } = await dyingAtEach(dying);
  expect(wrong).toEqual({});
  expect(through).toBe(true);
  expect(died).toBeGreaterThan(amount(12, 50));
}, 120_000);
