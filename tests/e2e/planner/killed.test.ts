/** Runs whose processes are killed, and that go on in others. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { Agent, bundledAgent } from "./agent.js";
import { LEASE_IS_OVER, waiting, worldOf, type World } from "./world.js";

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
  const killed = new Agent(here, ["resume", token, "yes"]);
  await here.sending(1);
  await killed.kill();
  await using early = new Agent(here, ["resume", token, "again"]);
  expect(await early.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });

  await using agent = new Agent(here, ["resume", token, "again"], LEASE_IS_OVER);
  await here.sending(2);
  here.sent[1]?.answer("sent");
  expect(await agent.printed).toMatchObject({ kind: "result", answer: '"again" "sent"' });
  expect([here.written(), here.sent.length]).toEqual([1, 2]);
  expect(await readdir(join(here.folder, "state", "runs"))).toEqual([]);
});

test("of several processes that go on with a run at the same time, one does", async () => {
  const here = await world();
  const token = await waiting(here);
  here.beginTogether(4);
  const agents = Array.from({ length: 4 }, (_, at) => new Agent(here, ["resume", token, `${at}`]));
  try {
    const codes: (string | undefined)[] = [];
    const printed = agents.map(async (agent) => void codes.push((await agent.printed).code));
    await here.sending(1);
    await vi.waitFor(() => expect(codes).toEqual(Array.from({ length: 3 }, () => "E_NOT_FOUND")), { timeout: 20_000 });
    here.sent[0]?.answer("sent");
    await Promise.all(printed);
    expect(codes[3]).toBeUndefined();
    expect(here.sent).toHaveLength(1);
  } finally {
    for (const agent of agents) await agent.kill();
  }
});
