import fc from "fast-check";
import { expect, test } from "vitest";
import { shared, Sluices } from "../../../web/src/planner/observation.js";
import type { SluiceConfig } from "../../../web/src/config/types.js";
import type { Sluice } from "../../../web/src/core/sluice.js";

test("who needs little leaves the rest to the others", () => {
  expect(shared([100, 90_000, 90_000], 100_000)).toEqual([100, 49_950, 49_950]);
  expect(shared([10, 20], 100_000)).toEqual([10, 20]);
  expect(shared([], 100_000)).toEqual([]);
});

/** What so many want, and at least 256 for each of them. */
const wanted = fc
  .array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 256 })
  .chain((needs) => fc.tuple(fc.constant(needs), fc.integer({ min: needs.length * 256, max: 200_000 })));

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

test("together they have no more than there is, and nobody gets less than 256 who needs it", () => {
  const property = fc.property(wanted, ([needs, total]) => {
    const shares = shared(needs, total);
    expect(sum(shares)).toBeLessThanOrEqual(total);
    for (const [at, share] of shares.entries()) {
      expect(share).toBeLessThanOrEqual(needs[at] as number);
      expect(share).toBeGreaterThanOrEqual(Math.min(256, needs[at] as number));
    }
  });
  fc.assert(property);
});

test("where there is less than 256 for each, each gets 256", () => {
  expect(shared([1_000, 100, 1_000], 300)).toEqual([256, 100, 256]);
});

test("who is cut to a share keeps it while the others are cut, the longest first", () => {
  const property = fc.property(wanted, ([needs, total]) => {
    const left = [...needs];
    const longestFirst = needs.map((_, at) => at).toSorted((a, b) => (needs[b] as number) - (needs[a] as number));
    for (const at of longestFirst) left[at] = shared(left, total)[at] as number;
    expect(sum(left)).toBeLessThanOrEqual(total);
  });
  fc.assert(property);
});

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
