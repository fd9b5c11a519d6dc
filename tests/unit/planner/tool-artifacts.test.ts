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

test("the five methods of the RFC serve a native tool, and the host is told what they stored", async () => {
  let seen: unknown[] = [];
  const stores = tool({
    name: "stores",
    description: "",
    input,
    run: async (_, { artifacts }) => {
      const ref = await artifacts.putBytes(PDF, { filename: "a.pdf", meta: { report_id: 7 } });
      const { id } = await artifacts.putText("a note");
      seen = [
        await artifacts.get(ref.id),
        await artifacts.exists(id),
        await artifacts.delete(id),
        await artifacts.get(id),
      ];
      return ref;
    },
  });
  const { planner, store } = planned(once({ name: "stores" }), [stores]);
  const [{ calls } = { calls: [] }] = answered(await planner.run("Go.", { scope })).trajectory.steps;
  expect(seen).toEqual([new Uint8Array(PDF), true, true, null]);
  const [ref] = calls[0]?.artifacts ?? [];
  expect((await store.stat(ref?.id ?? "", scope))?.source).toEqual({ tool: "stores", meta: { report_id: 7 } });
});

async function returned(value: unknown): Promise<{ observation: string; stored: Map<string, Uint8Array | null> }> {
  const gives = tool({ name: "gives", description: "", input: z.object({}), run: () => value });
  const { planner, store } = planned(once({ name: "gives" }), [gives]);
  const [{ calls } = { calls: [] }] = answered(await planner.run("Go.", { scope })).trajectory.steps;
  const { observation = "", artifacts = [] } = calls[0] ?? {};
  const stored = new Map<string, Uint8Array | null>();
  for (const { id } of artifacts) stored.set(id, await store.get(id, scope));
  return { observation, stored };
}

test.each([
  ["a Uint8Array", PDF],
  ["a Buffer", Buffer.from(PDF)],
  ["an ArrayBuffer", PDF.buffer.slice(PDF.byteOffset, PDF.byteOffset + PDF.byteLength)],
  ["a Blob", new Blob([PDF.slice()], { type: "application/pdf" })],
])("bytes are stored wherever they are in a result, and a reference is told: %s", async (_, bytes) => {
  const { observation, stored } = await returned({ n: 1, files: [{ name: "a", bytes }] });
  const [[id, kept] = ["", null]] = stored;
  expect(stored.size).toBe(1);
  expect(kept).toEqual(new Uint8Array(PDF));
  expect(observation).toContain(id);
  expect(observation).toContain('"n":1');
  expect(observation.length).toBeLessThan(1000);
});

test("bytes alone are a result", async () => {
  const { observation, stored } = await returned(new File([PDF.slice()], "report.pdf", { type: "application/pdf" }));
  expect([...stored.values()]).toEqual([new Uint8Array(PDF)]);
  expect(observation).toContain("report.pdf");
});

test("what has none is told as JSON writes it, however deep, and what writes itself is left alone", async () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 200; depth += 1) deep = [deep];
  const date = new Date(0);
  expect((await returned({ date, deep })).observation).toBe(JSON.stringify({ date, deep }));
  expect((await returned({ date, bytes: new Uint8Array(PDF) })).observation).toContain("1970-01-01T00:00:00.000Z");
});

test("what goes round is the tool's failure, and no endless look", async () => {
  const round: Record<string, unknown> = {};
  round["again"] = round;
  expect((await returned(round)).observation).toContain('"isError":true');
});
