/** What happens to a run that waits, whichever store it waits in. */
import { expect, vi } from "vitest";
import { Agent } from "./agent.js";
import { LEASE_IS_OVER, type World } from "./world.js";

/** How many want to go on with one run. */
const MANY = 4;

/** Whoever goes on with it is killed in the middle: another goes on when the lease is over, and not before. */
export async function goesOnAfterDeath(here: World, token: string): Promise<void> {
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
}

/**
 * A run that is kept by a name goes on from where it was, whenever its process is killed: before a pause, in it, and behind an answer,
 * which is not asked for again.
 */
export async function isTakenOver(here: World): Promise<void> {
  const begun = new Agent(here, ["begin", "the run"]);
  const { resumeToken = "" } = await begun.printed;
  await begun.kill();
  await using waits = new Agent(here, ["take-over", "the run"]);
  expect(await waits.printed).toMatchObject({ kind: "pause", resumeToken });

  const answered = new Agent(here, ["resume", resumeToken, "yes"]);
  await here.sending(1);
  await answered.kill();
  await using early = new Agent(here, ["take-over", "the run"]);
  expect(await early.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });
  await using again = new Agent(here, ["resume", resumeToken, "no"], LEASE_IS_OVER);
  expect(await again.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });

  await using agent = new Agent(here, ["take-over", "the run"], LEASE_IS_OVER);
  await here.sending(2);
  here.sent[1]?.answer("sent");
  expect(await agent.printed).toMatchObject({ kind: "result", answer: '"yes" "sent"' });
  expect([here.written(), here.sent.length]).toEqual([1, 2]);
}

/** Many go on with it at the same time: one does, and the others are told. Gives how often the mail was sent. */
export async function oneGoesOn(here: World, token: string): Promise<number> {
  here.beginTogether(MANY);
  const agents = Array.from({ length: MANY }, (_, at) => new Agent(here, ["resume", token, `${at}`]));
  try {
    const codes: (string | undefined)[] = [];
    const printed = agents.map(async (agent) => void codes.push((await agent.printed).code));
    await here.sending(1);
    const refused = Array.from({ length: MANY - 1 }, () => "E_NOT_FOUND");
    await vi.waitFor(() => expect(codes).toEqual(refused), { timeout: 20_000 });
    here.sent[0]?.answer("sent");
    await Promise.all(printed);
    expect(codes[MANY - 1]).toBeUndefined();
    return here.sent.length;
  } finally {
    for (const agent of agents) await agent.kill();
  }
}
