/** Calls and chat runs under the names that servers of other versions know, which share a state while one replaces the other. */
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { SluiceError } from "../../../../web/src/errors/error.js";
import { memoryState, type ServeState } from "../../../../web/src/server/state.js";
import type { ServedSession } from "../../../../web/src/server/session.js";
import { KeptWork } from "../../../../web/src/server/work/kept-work.js";
import { WorkPlace } from "../../../../web/src/server/work/work-place.js";
import type { WorkKind } from "../../../../web/src/server/work/work-register.js";

const ID = "123e4567-e89b-42d3-a456-426614174000";
const SESSION: ServedSession = { id: "s", identity: { user_id: "ada" }, begun_at: 0, expires_at: 1 };
const RECORD = z.object({ what: z.string() });

class Kept extends KeptWork<z.infer<typeof RECORD>> {
  protected override look(): Promise<"over"> {
    return Promise.resolve("over");
  }

  protected override goOn(): Promise<"over"> {
    return Promise.resolve("over");
  }
}

/** `ended`: how often what was held was ended. */
function keeping(kind: WorkKind): { kept: Kept; place: WorkPlace; state: ServeState; ended: () => number } {
  const state = memoryState();
  let ended = 0;
  const held = {
    end: async (): Promise<void> => void (ended += 1),
    free: (): Promise<void> => Promise.resolve(),
    leave: (): void => undefined,
  };
  const keeper = { hold: () => Promise.resolve(held), takesUp: () => undefined };
  const report = (error: unknown): never => {
    throw error;
  };
  const kept = new Kept({ state, keeper, report }, { kind, record: RECORD, most: 1, lost: "Lost." });
  return { kept, place: new WorkPlace(kind, SESSION.id, ID), state, ended: () => ended };
}

test.each([
  ["run", `chat s ${ID}`, `chat s ${ID} deps`, `run s ${ID}`, "runs s"],
  ["call", `call s ${ID}`, `call s ${ID}`, `call s ${ID}`, "calls s"],
] as const)("a %s is stored, listed and deleted by its names", async (kind, token, record, channel, list) => {
  const { kept, place, state } = keeping(kind);
  expect([place.token, place.record, place.channel, place.list]).toEqual([token, record, channel, list]);
  await kept.begin(place, { what: "this" });
  expect((await state.events.latest(list))?.event).toEqual({ kind, [kind]: ID });
  expect(await state.runs.loadPlannerState(record)).toEqual({ what: "this" });
  expect(await kept.find(SESSION, ID)).toEqual(place);
  expect(await kept.find({ ...SESSION, id: "other" }, ID)).toBeNull();
  await state.runs.savePlannerState(token, { going: true });
  await state.events.append(channel, { kind: "result" });
  expect(await kept.isTold(place)).toBe(true);
  await kept.endSession({ session: SESSION });
  for (const each of [token, record]) expect(await state.runs.loadPlannerState(each)).toBeNull();
  for (const each of [channel, list]) expect(await state.events.has(each)).toBe(false);
});

test("what cannot be stored is held no longer", async () => {
  const { kept, place, state, ended } = keeping("call");
  vi.spyOn(state.runs, "savePlannerState").mockRejectedValueOnce(new SluiceError("E_STORE_WRITE", "It is away."));
  await expect(kept.begin(place, { what: "this" })).rejects.toMatchObject({ code: "E_STORE_WRITE" });
  expect(ended()).toBe(1);
});
