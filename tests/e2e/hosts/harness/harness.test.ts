/** What the harness reads in requests, and how it judges: no host is started. */
import { describe, expect, test } from "vitest";
import { makePng } from "../../../../scripts/demo/png.mjs";
import { FakeModel, type ModelRequest } from "../fake-model.js";
import { type ModelApi, writeTurn } from "../model-apis.js";
import { listTools, readAfter } from "../requests.js";
import { CASES, type HostCase, selectCases } from "./cases.js";
import { Driver } from "./driver.js";
import { HOSTS } from "./hosts.js";
import { RESULTS } from "./results.mjs";
import { measureParts, noteFailure, type Seen } from "./seen.js";
import { judge } from "./verdict.js";

const PNG = (width: number, height: number): string => makePng({ width, height }).toString("base64");

const small: HostCase = { name: "img", title: "", kind: "small", facts: { words: "E-4711" } };

/** A conversation in which a tool answered with words and a picture, in the form of each API. */
const CONVERSATIONS: Readonly<Record<ModelApi, (words: string, data: string) => object>> = {
  messages: (text, data) => ({
    tools: [{ name: "mcp__fix__img" }],
    messages: [
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "mcp__fix__img", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "c1",
            content: [
              { type: "text", text },
              { type: "image", source: { type: "base64", media_type: "image/png", data } },
            ],
          },
          { type: "text", text: "<system-reminder>Not a part of it.</system-reminder>" },
        ],
      },
    ],
  }),
  chat: (text, data) => ({
    tools: [{ type: "function", function: { name: "fix_img" } }],
    messages: [
      { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: { name: "fix_img" } }] },
      { role: "tool", tool_call_id: "c1", content: text },
      { role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }] },
    ],
  }),
  responses: (text, data) => ({
    tools: [{ type: "namespace", name: "mcp__fix", tools: [{ type: "function", name: "img" }] }],
    input: [
      { type: "function_call", call_id: "c1", name: "img", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "c1",
        output: [
          { type: "input_text", text },
          { type: "input_image", image_url: `data:image/png;base64,${data}` },
        ],
      },
    ],
  }),
  gemini: (output, data) => ({
    tools: [{ functionDeclarations: [{ name: "mcp_fix_img" }] }],
    contents: [
      { role: "model", parts: [{ functionCall: { name: "mcp_fix_img", args: {} } }] },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "mcp_fix_img", response: { output } } },
          { inlineData: { mimeType: "image/png", data } },
        ],
      },
    ],
  }),
};

describe.each(Object.entries(CONVERSATIONS))("%s", (name, converse) => {
  const api = name as ModelApi;

  test("a result is found with its words and its picture", () => {
    const prompt = JSON.stringify(converse("E-4711", PNG(8, 8)));
    const seen = measureParts(api, small, readAfter(prompt, "c1") ?? []);
    expect(seen).toMatchObject({ chars: 6, pictures: 1, refused: [], facts: ["words"] });
    expect(listTools(prompt)).toHaveLength(1);
  });

  test("a picture that is cut, or of another type, does not count", () => {
    const cut = measureParts(api, small, readAfter(JSON.stringify(converse("", PNG(8, 8).slice(0, -20))), "c1") ?? []);
    expect(cut).toMatchObject({ pictures: 0, refused: ["not whole"] });
    const other = JSON.stringify(converse("", PNG(8, 8))).replace("image/png", "image/jpeg");
    expect(measureParts(api, small, readAfter(other, "c1") ?? [])).toMatchObject({ pictures: 0 });
  });

  test("a model calls the tool, and keeps what it gets", () => {
    const driver = new Driver([small]);
    const ask = (body: object): object => driver.answer({ api, prompt: JSON.stringify(body), callId: "c1" });
    const { tools } = converse("", "") as { readonly tools: unknown };
    const turn = ask({ tools });
    expect(turn).toMatchObject({ args: {} });
    expect(JSON.stringify(writeTurn(api, turn as never, { number: 1, callId: "c1" }))).toContain("img");
    expect(ask(converse("E-4711", PNG(8, 8)))).toEqual({ say: "Done." });
    expect(driver.seen.get("img")).toMatchObject({ pictures: 1, facts: ["words"] });
    expect(driver.isDone).toBe(true);
  });
});

test("a picture whose side is above 8,000 pixels is refused by Anthropic's API alone", () => {
  const image = { kind: "image", mimeType: "image/png", bytes: makePng({ width: 2, height: 8001 }) } as const;
  expect(measureParts("messages", small, [image])).toMatchObject({ pictures: 0, refused: ["2 × 8001"] });
  expect(measureParts("chat", small, [image])).toMatchObject({ pictures: 1 });
});

test("a picture or a recording in a message of the tool is refused by Chat Completions", () => {
  const content = [
    { type: "image_url", image_url: { url: `data:image/png;base64,${PNG(8, 8)}` } },
    { type: "input_audio", input_audio: { format: "wav", data: "UklGRg==" } },
  ];
  const call = { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name: "fix_img" } }] };
  const prompt = JSON.stringify({ messages: [call, { role: "tool", tool_call_id: "c1", content }] });
  const seen = measureParts("chat", small, readAfter(prompt, "c1") ?? []);
  expect(seen).toMatchObject({ pictures: 0, recordings: 0, refused: ["in a message of a tool"] });
});

describe("verdicts", () => {
  const seen = (more: Partial<Seen>): Seen => ({ ...measureParts("chat", small, []), chars: 1000, ...more });
  const prose: HostCase = { name: "text", title: "", kind: "prose" };
  const rows: HostCase = { name: "csv", title: "", kind: "data" };
  const stored = { chars: 300, isTold: true, uri: "artifact://fix_1" };
  const found = { isFound: true, chars: 10, excerpt: "" };

  test.each<[string, HostCase, Partial<Seen>, Partial<Seen>, string]>([
    ["the same", small, {}, {}, "equal"],
    ["a sentence more", small, { pictures: 1 }, { ...stored, pictures: 1, chars: 1300 }, "equal"],
    ["a picture that the API refuses", small, { refused: ["not whole"] }, { ...stored }, "better"],
    ["a picture less", small, { pictures: 3 }, { ...stored, pictures: 2 }, "worse"],
    ["a document less", small, { opened: 1 }, { ...stored }, "worse"],
    ["a fact less", small, { facts: ["words"] }, { ...stored }, "worse"],
    ["a fact that can be read on", rows, { facts: ["last"], share: 1 }, { ...stored, read: found }, "better"],
    ["a sum that a script cannot have", rows, { facts: ["sum"] }, { ...stored, read: found }, "worse"],
    ["text that was whole", prose, { share: 1 }, { ...stored, share: 0.1, read: found }, "worse"],
    ["text that was cut", prose, { share: 0.2 }, { ...stored, share: 0.1, read: found }, "better"],
    ["a URI alone", rows, { share: 0.2 }, { ...stored, isTold: false }, "worse"],
    ["what is for programs", small, {}, { ...stored, hasRefs: true }, "worse"],
    ["a call that fails", small, {}, noteFailure("no request"), "worse"],
    ["a call that failed before", small, noteFailure("no request"), {}, "better"],
    ["much longer", small, {}, { chars: 1500 }, "worse"],
  ])("%s", (_name, entry, plain, behind, word) => {
    expect(judge(entry, seen(plain), seen(behind)).word).toBe(word);
  });
});

test("names of cases stand for those that begin with them, and unknown ones are refused", () => {
  expect(selectCases(["csv", "pdf"]).map(({ name }) => name)).toEqual(["pdf", "csv_300", "csv_5000"]);
  expect(() => selectCases(["no"])).toThrow('There is no case "no"');
});

test("each case has its tool, and each host a name of its own", () => {
  const tools = CASES.map(({ name, tool }) => (tool === undefined ? name : tool));
  const answered = new Set([...Object.keys(RESULTS), "err_rpc", null]);
  expect(tools.filter((tool) => !answered.has(tool))).toEqual([]);
  expect(new Set(HOSTS.map(({ word }) => word)).size).toBe(HOSTS.length);
});

test("the model streams where it is asked to", async () => {
  await using model = await FakeModel.start();
  const asked: ModelRequest[] = [];
  model.answerBy((request) => {
    asked.push(request);
    return { say: "Hello." };
  });
  const body = JSON.stringify({ stream: true });
  const answer = await fetch(`${model.url}/messages`, { method: "POST", body });
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  expect(await answer.text()).toContain("message_stop");
  expect(asked).toMatchObject([{ api: "messages", prompt: body }]);
});
