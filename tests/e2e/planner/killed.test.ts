/** Runs whose processes are killed, and that go on in others. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { Agent, bundledAgent } from "./agent.js";
import { LEASE_IS_OVER, waiting, worldOf, type World } from "./world.js";
import { goesOnAfterDeath, isTakenOver, oneGoesOn } from "./scenarios.js";
import { isFull } from "../../support/full.js";

let program: Awaited<ReturnType<typeof bundledAgent>>;
beforeAll(async () => {
  program = await bundledAgent();
});
afterAll(() => program.dispose());

const world = (): Promise<World> => worldOf(program.path);

test("a run that waits goes on in another process, when its own was killed", async () => {
  const here = await world();
  const token = await waiting(here);
  await using agent = new Agent(here, ["resume", token, "yes"]);
  await here.sending(1);
  const [sent] = here.sent;
  const report = await new FileArtifactStore(join(here.folder, "artifacts")).get(sent?.report ?? "", {
    user_id: "ada",
  });
  expect(new TextDecoder().decode(report ?? undefined)).toBe("The report.");
  sent?.answer("sent");
  expect(await agent.printed).toMatchObject({ kind: "result", answer: '"yes" "sent"' });
  // What was done before the pause was not done again, and there is nothing left to go on with.
  expect(here.written()).toBe(1);
  expect(await readdir(join(here.folder, "state", "runs"))).toEqual([]);
  await using late = new Agent(here, ["resume", token, "yes"], LEASE_IS_OVER);
  expect(await late.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });
});

test("a process that is killed in the middle of it does not lose it: it waits again when the lease is over", async () => {
  const here = await world();
  const token = await waiting(here);
  await goesOnAfterDeath(here, token);
  expect(await readdir(join(here.folder, "state", "runs"))).toEqual([]);
});

test.runIf(isFull)("of several processes that go on with a run at the same time, one does", async () => {
  const here = await world();
  const token = await waiting(here);
  expect(await oneGoesOn(here, token)).toBe(1);
});

test.runIf(isFull)(
  "a run that is kept by a name is taken over behind the last step that was done, and is gone when it is over",
  async () => {
    const here = await world();
    await isTakenOver(here);
    expect(await readdir(join(here.folder, "state", "runs"))).toEqual([]);
  },
);
