import { expect, test } from "vitest";
import { z } from "zod";
import { tool, type NativeToolOptions } from "../../../web/src/planner/tool.js";
import { PDF } from "../core/samples.js";
import { answered, once, planned } from "./planned.js";

const scope = { tenant_id: "acme", user_id: "ada-of-acme", session_id: "s-1", trace_id: null };
const input = z.object({});

test.each<[string, NativeToolOptions<typeof input>["run"]]>([
  ["bytes", () => ({ file: PDF })],
  ["a ref", async (_, { artifacts }) => ({ ref: await artifacts.upload(PDF, { filename: "a.pdf" }) })],
  ["a copy of a ref", async (_, { artifacts }) => ({ ...(await artifacts.upload(PDF)), more: 1 })],
  [
    "what is known of it, and of all there are",
    async (_, { artifacts }) => {
      const { id } = await artifacts.upload(PDF);
      const all = [];
      for await (const artifact of artifacts.list()) all.push(artifact);
      return { one: await artifacts.stat(id), all };
    },
  ],
])("the model is not told whose the artifacts are: %s", async (_, run) => {
  const gives = tool({ name: "gives", description: "", input, run });
  const { planner, turns, store } = planned(once({ name: "gives" }), [gives]);
  const [{ calls } = { calls: [] }] = answered(await planner.run("Go.", { scope })).trajectory.steps;
  const id = calls[0]?.artifacts[0]?.id ?? "";
  expect(calls[0]?.observation).toContain(id);
  expect(await store.exists(id, scope)).toBe(true);
  expect(JSON.stringify(turns)).not.toMatch(/ada-of-acme|acme|s-1|scope/);
});

test("a tool can ask for the scope by name", async () => {
  let seen: unknown;
  const asks = tool({
    name: "asks",
    description: "",
    input,
    run: async (_, { artifacts }) => {
      const ref = await artifacts.upload(PDF);
      seen = ref.scope;
    },
  });
  answered(await planned(once({ name: "asks" }), [asks]).planner.run("Go.", { scope }));
  expect(seen).toEqual(scope);
});
