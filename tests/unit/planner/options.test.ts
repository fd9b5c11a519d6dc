import { expect, test } from "vitest";
import { type ReactPlannerOptions, type RunOptions, ReactPlanner } from "../../../web/src/planner/react-planner.js";
import { planned } from "./planned.js";

const llm = { model: "none", ask: () => Promise.reject(new Error("nobody is asked")) };

test.each<[Record<string, unknown>, string, string]>([
  [{ llm }, "catalog", "a list of tools"],
  [{ catalog: [] }, "llm", "a model, such as an OpenAiClient"],
  [{ catalog: [], llm: "gpt-4o" }, "llm", "a model"],
  [{ catalog: {}, llm }, "catalog", "a list of tools"],
  [{ catalog: [], llm, maxStepChars: 255 }, "maxStepChars", "a whole number of at least 256"],
  [{ catalog: [], llm, absoluteMaxParallel: 1.5 }, "absoluteMaxParallel", "a whole number above 0"],
  [{ catalog: [], llm, artefactStore: {} }, "artefactStore", "did you mean artifactStore?"],
  [{ catalog: [], llm, leaseSeconds: -1 }, "leaseSeconds", "a number above 0"],
  [{ catalog: [], llm, budget: { maxStep: 1 } }, "budget.maxStep", "did you mean maxSteps?"],
  [{ catalog: [], llm, budget: { maxSteps: "2" } }, "budget.maxSteps", "a whole number above 0"],
  [{ catalog: [], llm, budget: { maxSteps: 1.5 } }, "budget.maxSteps", "a whole number above 0"],
  [{ catalog: [], llm, budget: { maxSteps: 0 } }, "budget.maxSteps", "a whole number above 0"],
  [{ catalog: [], llm, budget: { maxTokens: Number.NaN } }, "budget.maxTokens", "a whole number above 0"],
  [{ catalog: [], llm, budget: { maxSeconds: "60" } }, "budget.maxSeconds", "a number above 0"],
  [{ catalog: [], llm, budget: { maxSeconds: -1 } }, "budget.maxSeconds", "a number above 0"],
  [{ catalog: [], llm, budget: [] }, "budget", "must be an object"],
])("a planner of %j is refused, with what is wrong of %s", (options, path, sentence) => {
  const refused = { code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(sentence) as string };
  expect(() => new ReactPlanner(options as unknown as ReactPlannerOptions)).toThrow(expect.objectContaining(refused));
});

test.each([{}, { maxSteps: 1 }, { maxSteps: Infinity, maxTokens: Infinity, maxSeconds: 0.5 }])(
  "a budget of %j is taken",
  (budget) => {
    expect(() => new ReactPlanner({ catalog: [], llm, budget })).not.toThrow();
  },
);

test.each<[unknown, string]>([
  [{ planningHints: { max_parallel: 0 } }, "planningHints"],
  [{ scope: "ada" }, "scope"],
  [{ signal: {} }, "signal"],
  [{ user: "ada" }, "user"],
])("a run with %j is refused", async (options, path) => {
  const { planner, turns } = planned(() => ({ text: "x" }), []);
  const refused = { code: "E_INVALID_ARGUMENT", path };
  await expect(planner.run("Go.", options as RunOptions)).rejects.toMatchObject(refused);
  await expect(planner.resume("token", options as RunOptions)).rejects.toMatchObject(refused);
  expect(turns).toEqual([]);
});

test.each([[""], ["  "], [undefined], [{}]])("no query is %j", async (query) => {
  const { planner } = planned(() => ({ text: "x" }), []);
  await expect(planner.run(query as string)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT", path: "query" });
});
