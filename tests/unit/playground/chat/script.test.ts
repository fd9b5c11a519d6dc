import { describe, expect, test } from "vitest";
import { script } from "../../../../web/playground/engine/chat/script.js";
import type { ScriptedMessage } from "../../../../web/src/planner/llm/scripted-model.js";

const DEMO = ["sales_report", "sales_chart", "sales_table", "export_csv", "slow_import", "asks", "artifact_read"];
const TOOLS = [...DEMO.map((name) => `demo_${name}`), "docs_whoami", "docs_find_page"];
const asked = (content: string): ScriptedMessage => ({ role: "user", content });
const called: ScriptedMessage = { role: "assistant", content: "" };
const result = (content: string): ScriptedMessage => ({ role: "tool", content });

async function calls(query: string, tools = TOOLS): Promise<unknown> {
  return ((await script({ messages: [asked(query)], tools })).calls ?? []).map(({ name, args }) => [name, args]);
}

describe("the script", () => {
  test.each([
    ["Make the q2 report", [["demo_sales_report", { quarter: "Q2" }]]],
    ["Draw a line chart of it", [["demo_sales_chart", { kind: "line" }]]],
    ["Show the orders", [["demo_sales_table", {}]]],
    ["Export the orders", [["demo_export_csv", {}]]],
    ["Import them within 99 seconds", [["demo_slow_import", { seconds: 60 }]]],
    ["whoami", [["docs_whoami", {}]]],
    ['Call find_page with {"name": "home"}', [["docs_find_page", { name: "home" }]]],
    ["Call docs_find_page {broken}", [["docs_find_page", {}]]],
    ["Call demo_sales_report as a report", [["demo_sales_report", {}]]],
    ["What is the meaning of life?", []],
  ])("%s", async (query, expected) => {
    expect(await calls(query)).toEqual(expected);
  });

  test("says what it is where nothing is named, or nothing can be called", async () => {
    expect((await script({ messages: [asked("Hello")], tools: TOOLS })).text).toContain("I am a script, not a model");
    expect((await script({ messages: [asked("Draw the chart")], tools: [] })).text).toContain("I am a script");
    expect(await calls("Draw the chart", ["docs_whoami"])).toEqual([]);
  });

  test("looks inside of what was stored once, where that is asked for", async () => {
    const stored = result('{"pdf":{"artifact":{"id":"demo_0a1b"},"summary":"PDF, 4.0 MB"}}');
    const messages = [asked("Make the report and read it"), called, stored];
    expect((await script({ messages, tools: TOOLS })).calls).toEqual([
      { name: "demo_artifact_read", args: { uri: "artifact://demo_0a1b", lines: "1-5" } },
    ]);
    const { text, calls: more } = await script({ messages: [...messages, called, result('"first"')], tools: TOOLS });
    expect(more).toBeUndefined();
    expect(text).toContain('• PDF, 4.0 MB\n• "first"');
  });

  test("tells the beginning of what is long", async () => {
    const long = result(JSON.stringify("x".repeat(10_000)));
    const { text = "" } = await script({ messages: [asked("Show the orders"), called, long], tools: TOOLS });
    expect(text.length).toBeLessThan(400);
    expect(text).toContain("10,002 characters");
  });
});
