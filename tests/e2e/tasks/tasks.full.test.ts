/** Some of the tasks of `npm run bench:tasks`: solved by their scripts, and by a model behind an OpenAI-compatible API. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askModel } from "../../../scripts/bench/tasks/model.mjs";
import { POLICIES } from "../../../scripts/bench/tasks/policies.mjs";
import { TASKS, type Task } from "../../../scripts/bench/tasks/tasks.mjs";
import { Bench } from "../../../scripts/bench/tasks/ways.mjs";
import { FakeModel } from "../hosts/fake-model.js";

let folder: string;
let bench: Bench;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-tasks-"));
  await mkdir(join(folder, "data"));
  bench = new Bench(join(folder, "data"), join(folder, "store"));
});

afterAll(async () => {
  await bench.close();
  await rm(folder, { recursive: true });
});

function taskOf(id: string): Task {
  const task = TASKS.find((each) => each.id === id);
  if (task === undefined) throw new Error(`There is no task ${id}.`);
  return task;
}

test("there are thirty, each with a policy", () => {
  expect(TASKS).toHaveLength(30);
  expect(Object.keys(POLICIES).sort()).toEqual(TASKS.map(({ id }) => id).sort());
});

test.each(["json-path", "html-link", "edit-html"])("%s is solved in all three ways", async (id) => {
  const context = await bench.solve(taskOf(id), "context");
  const grep = await bench.solve(taskOf(id), "grep");
  const sluice = await bench.solve(taskOf(id), "sluice");
  expect([context, grep, sluice]).toMatchObject([{ isSolved: true }, { isSolved: true }, { isSolved: true }]);
  expect(sluice.tokens).toBeLessThan(context.tokens / 100);
});

test.each(["docx-heading", "zip-csv"])("%s is solved by Sluice, of bytes that nobody can read", async (id) => {
  expect(await bench.solve(taskOf(id), "context")).toMatchObject({ isSolved: false, why: "not text" });
  expect(await bench.solve(taskOf(id), "sluice")).toMatchObject({ isSolved: true });
});

test("a model solves one, and its calls and tokens are counted", async () => {
  await using model = await FakeModel.start();
  const task = taskOf("html-link");
  const path = bench.path(task.file);
  model.follow(
    { call: "read_text_file", args: { path } },
    (prompt) => ({
      call: "filesystem_artifact_read",
      args: { uri: /artifact:\/\/\w+/.exec(prompt)?.[0] ?? "", as: "links", search: "terms of trade" },
    }),
    (prompt) => ({ say: `ANSWER: ${/https:\/\/example\.com\/terms\/\w+/.exec(prompt)?.[0] ?? ""}` }),
  );
  const seen = await askModel(bench, task, { model: "fake", baseUrl: model.url });
  expect(seen).toMatchObject({ isSolved: true, calls: 2, prompt: 3, written: 3 });
  expect(model.prompts[0]).toContain(task.question);
});
