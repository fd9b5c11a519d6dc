import { describe, expect, test } from "vitest";
import { Room, sluice } from "./command.js";
import { PDF, PNG, SCREENSHOT, WORKBOOK } from "./results.js";

const url = PDF.toString("base64url");
const wrapped = PNG.toString("base64").replace(/.{76}/g, "$&\n");

const RESULTS: readonly (readonly [string, string])[] = [
  ["JSON in a text block", WORKBOOK],
  ["an image block", SCREENSHOT],
  [
    "an image with annotations",
    '{"content":[{"type":"image","annotations":{"priority":0.50},"data":"' +
      PNG.toString("base64") +
      '","mimeType":"image/png"}]}',
  ],
  ["both halves", JSON.stringify({ content: [{ type: "text", text: url }], structuredContent: { url, n: 1 } })],
  [
    "a data URI in Markdown",
    JSON.stringify({
      content: [{ type: "text", text: `# Hi\n![x](data:image/png;base64,${PNG.toString("base64")}) end` }],
    }),
  ],
  ["wrapped lines", JSON.stringify({ content: [{ type: "text", text: wrapped }] })],
  ["long text", JSON.stringify({ content: [{ type: "text", text: "wörd \u{1f600}\n".repeat(4000) }] })],
  [
    "literals that look like ours",
    `{"content":[{"type":"text","text":"artifact://tableau_1a2b3c4d5e6f?type=application/pdf&size=9"}],"x":"${url}"}`,
  ],
  [
    "odd JSON",
    `{ "content" : [ ],\n "n":1.0E+2 , "n":12345678901234567890, "s":"\\ud800\\/", "b":"${PDF.toString("base64")}"}\n`,
  ],
  ["a JSON-RPC response", `{"jsonrpc":"2.0","id":1,"result":${SCREENSHOT}}`],
  [
    "bytes in an array",
    JSON.stringify({ content: [], structuredContent: { type: "Buffer", data: [...PDF.subarray(0, 20_000)] } }),
  ],
];

describe("sluice restore", () => {
  test.each(RESULTS)("gives back %s to the byte", async (_, original) => {
    await using room = await Room.open();
    const reduced = await sluice(["transform", "--dialect", "mcp", "--store", room.store], { input: original });
    expect(reduced).toMatchObject({ code: 0, stderr: "" });
    const file = await room.write("reduced.json", reduced.stdout);
    const restored = await sluice(["restore", file, "--store", room.store]);
    expect(restored).toMatchObject({ code: 0, stderr: "" });
    expect(restored.stdout).toBe(original);
  });

  test("finds what was stored under a scope, with and without naming it", async () => {
    await using room = await Room.open();
    const scope = ["--scope", "session=s1"];
    const mcp = ["transform", "--dialect", "mcp", "--store", room.store];
    const { stdout: input } = await sluice([...mcp, ...scope], { input: WORKBOOK });
    expect(input.length).toBeLessThan(WORKBOOK.length / 2);
    expect((await sluice(["restore", "--store", room.store], { input })).stdout).toBe(WORKBOOK);
    expect((await sluice(["restore", "--store", room.store, ...scope], { input })).stdout).toBe(WORKBOOK);
    const other = await sluice(["restore", "--store", room.store, "--scope", "session=s2"], { input });
    expect(other.code).not.toBe(0);
    expect(other.stderr).toMatch(/^sluice: /);
  });

  test("--ndjson restores line by line", async () => {
    await using room = await Room.open();
    const input = `${SCREENSHOT}\n\n{"a":1}\n${WORKBOOK}\n`;
    const mcp = ["transform", "--dialect", "mcp", "--ndjson", "--store", room.store];
    const reduced = await sluice(mcp, { input });
    expect(reduced.stdout.length).toBeLessThan(input.length / 2);
    expect((await sluice(["restore", "--ndjson", "--store", room.store], { input: reduced.stdout })).stdout).toBe(
      input,
    );
  });

  test("says what is wrong: no JSON 65, no artifact 1 or 74, no store 2", async () => {
    await using room = await Room.open();
    const broken = await sluice(["restore", "--store", room.store], { input: "{nope" });
    expect(broken.code).toBe(65);
    expect(JSON.parse(broken.stdout)).toMatchObject({ error: { code: expect.stringMatching(/^E_JSON_/) as string } });
    const { stdout: input } = await sluice(["transform", "--dialect", "mcp", "--store", "memory"], { input: WORKBOOK });
    const gone = await sluice(["restore", "--store", room.store], { input });
    expect([1, 74]).toContain(gone.code);
    expect(gone.stderr).toMatch(/artifact/);
    expect((await sluice(["restore", "--store", "memory"], { input })).code).toBe(2);
    expect((await sluice(["restore", "nowhere"], { cwd: room.folder })).code).toBe(66);
  });
});
