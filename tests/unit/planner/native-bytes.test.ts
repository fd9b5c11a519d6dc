import { expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../../web/src/planner/tool.js";
import { PDF } from "../core/samples.js";
import { answered, once, planned } from "./planned.js";

const scope = { user_id: "ada" };

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
