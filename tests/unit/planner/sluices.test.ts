import { expect, test } from "vitest";
import type { SluiceConfig } from "../../../web/src/core/config.js";
import type { Sluice } from "../../../web/src/core/sluice.js";
import { Sluices } from "../../../web/src/planner/observation.js";

const gate = {} as Sluice;

/** The configurations that gates were made of. */
function noted(config: SluiceConfig, fails: () => boolean = () => false): { sluices: Sluices; made: SluiceConfig[] } {
  const made: SluiceConfig[] = [];
  const create = async (each: SluiceConfig): Promise<Sluice> => {
    made.push(each);
    if (fails()) throw new Error("no core");
    return gate;
  };
  return { sluices: new Sluices(config, create), made };
}

test("one gate for each limit, which stores what it cuts", async () => {
  const { sluices, made } = noted({ guardrail: { max_field_chars: 7, auto_artifact_threshold: 20_000 } });
  await Promise.all([sluices.within(1_000), sluices.within(1_000), sluices.within(50_000)]);
  expect(made).toEqual([
    { guardrail: { max_field_chars: 7, max_observation_chars: 1_000, auto_artifact_threshold: 1_000 } },
    { guardrail: { max_field_chars: 7, max_observation_chars: 50_000, auto_artifact_threshold: 20_000 } },
  ]);
});

test("shares of any size need few gates, and none allows more than the share", async () => {
  const { sluices, made } = noted({});
  for (let share = 1; share <= 100_000; share += 97) {
    const before = made.length;
    await sluices.withinShare(share);
    const { max_observation_chars: limit = 0 } = made[before]?.guardrail ?? {};
    expect(limit).toBeLessThanOrEqual(Math.max(share, 256));
  }
  expect(made.length).toBeLessThan(12);
});

test("a gate that could not be made is made when it is asked for again", async () => {
  let fails = true;
  const { sluices } = noted({}, () => fails);
  await expect(sluices.within(1_000)).rejects.toThrow("no core");
  fails = false;
  expect(await sluices.within(1_000)).toBe(gate);
});
