import { describe, expect, test } from "vitest";
import { z } from "zod";
import { z as mini } from "zod/mini";
import { tool, type NativeToolOptions } from "../../../web/src/planner/tool.js";

const SEND = { name: "send", description: "Sends a mail.", input: z.object({ to: z.string() }), run: () => "sent" };
const ZOD_OBJECT = "must be a Zod object, such as z.object({ to: z.string() })";

const without = (option: keyof typeof SEND): object =>
  Object.fromEntries(Object.entries(SEND).filter(([name]) => name !== option));

describe("the options of a tool", () => {
  test.each<[string, unknown, string, string]>([
    ["run left out", without("run"), "run", 'The option run of the tool "send" must be a function.'],
    ["execute for run", { ...without("run"), execute: SEND.run }, "execute", "there are name, description,"],
    [
      "no name",
      without("name"),
      "name",
      "The option name of a tool must be of letters, digits, _, - and ., at most 64.",
    ],
    ["a name with a space", { ...SEND, name: "send it" }, "name", "must be of letters"],
    ["no description", without("description"), "description", "must be a text"],
    ["too small a limit", { ...SEND, maxObservationChars: 5 }, "maxObservationChars", "from 256 to 10000000"],
    ["too large a limit", { ...SEND, maxObservationChars: 10_000_001 }, "maxObservationChars", "from 256 to 10000000"],
    ["a broken limit", { ...SEND, maxObservationChars: 300.5 }, "maxObservationChars", "a whole number"],
    [
      "a misspelt limit",
      { ...SEND, maxObservationChar: 300 },
      "maxObservationChar",
      "did you mean maxObservationChars?",
    ],
    ["side effects that are none", { ...SEND, sideEffects: "none" }, "sideEffects", 'must be "read" or "external"'],
    ["no input", without("input"), "input", ZOD_OBJECT],
    ["JSON Schema", { ...SEND, input: { type: "object", properties: {} } }, "input", ZOD_OBJECT],
    ["a bare shape", { ...SEND, input: { to: z.string() } }, "input", ZOD_OBJECT],
    ["a schema of no object", { ...SEND, input: z.string() }, "input", ZOD_OBJECT],
    ["a schema of another kind", { ...SEND, input: mini.object({}) }, "input", ZOD_OBJECT],
    ["an output of another kind", { ...SEND, output: { sum: z.number() } }, "output", "must be a Zod schema"],
    ["what JSON Schema cannot say", { ...SEND, input: z.object({ at: z.date() }) }, "input", "texts for dates"],
    ["nothing", undefined, "options", "The options of a tool must be an object."],
  ])("%s", (_, options, path, sentence) => {
    const refused = { code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(sentence) as string };
    expect(() => tool(options as NativeToolOptions<z.ZodType>)).toThrow(expect.objectContaining(refused));
  });

  test("all of them, and objects that change what they are given", () => {
    const input = z
      .object({ to: z.string().default("ada") })
      .refine(({ to }) => to !== "")
      .transform(({ to }) => [to]);
    const output = z.object({ ok: z.boolean() });
    const made = tool({ ...SEND, input, output, sideEffects: "read", maxObservationChars: 256 });
    expect(made).toMatchObject({ kind: "native", name: "send", sideEffects: "read", maxObservationChars: 256 });
    expect(made.inputSchema).toMatchObject({ type: "object", properties: { to: { type: "string" } } });
  });

  test("what may be left out", () => {
    expect(tool({ ...SEND, description: "" })).toMatchObject({ sideEffects: "external", outputSchema: undefined });
  });
});
