import { expect, test } from "vitest";
import { checkBudget, Meter, type PlannerBudget } from "../../../web/src/planner/budget.js";

const NOTHING = { steps: 0, tokens: 0, seconds: 0 };

test.each<[unknown, string, string]>([
  [{ maxStep: 1 }, "budget.maxStep", "did you mean maxSteps?"],
  [{ maxSteps: "2" }, "budget.maxSteps", "a whole number above 0"],
  [{ maxSteps: 1.5 }, "budget.maxSteps", "a whole number above 0"],
  [{ maxSteps: 0 }, "budget.maxSteps", "a whole number above 0"],
  [{ maxTokens: Number.NaN }, "budget.maxTokens", "a whole number above 0"],
  [{ maxSeconds: "60" }, "budget.maxSeconds", "a number above 0"],
  [{ maxSeconds: -1 }, "budget.maxSeconds", "a number above 0"],
  [[], "budget", "must be an object"],
])("a budget of %j is refused", (budget, path, sentence) => {
  const refused = { code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(sentence) as string };
  expect(() => checkBudget(budget as PlannerBudget)).toThrow(expect.objectContaining(refused));
  expect(() => new Meter(budget as PlannerBudget, NOTHING)).toThrow(expect.objectContaining(refused));
});

test("limits may be left out, be parts of a second, or have no end", () => {
  for (const budget of [{}, { maxSteps: 1 }, { maxSteps: Infinity, maxTokens: Infinity, maxSeconds: 0.5 }]) {
    expect(() => checkBudget(budget)).not.toThrow();
  }
});
