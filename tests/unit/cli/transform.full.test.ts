/** `sluice transform` and `sluice sniff`: results on standard input, one or many. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { zipOf } from "../core/zip.js";
import { listed, Room, sluice } from "./command.js";
import { PDF, PNG, SCREENSHOT, sha256, WORKBOOK } from "./results.js";

describe("sluice transform", () => {
  test("reads a file, stores the bytes and prints the rest", async () => {
    await using room = await Room.open();
    const file = await room.write("result.json", WORKBOOK);
    const { code, stdout, stderr } = await sluice(["transform", file, "--store", room.store, "--namespace", "tableau"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.endsWith("\n")).toBe(true);
    expect(stdout.length).toBeLessThan(2000);
    const [ref] = await listed(room.store);
    expect(ref).toMatchObject({ mime_type: "application/pdf", size_bytes: PDF.length, sha256: sha256(PDF) });
    expect(ref?.id).toBe(`tableau_${sha256(PDF).slice(0, 12)}`);
    expect(stdout).toContain(ref?.id);
    expect(() => JSON.parse(stdout) as unknown).not.toThrow();
  });

  test("reads standard input where no file is given, and for `-`", async () => {
    await using room = await Room.open();
    const none = await sluice(["transform", "--store", room.store], { input: SCREENSHOT });
    const dash = await sluice(["transform", "-", "--store", room.store], { input: SCREENSHOT });
    expect(none).toMatchObject({ code: 0, stderr: "" });
    expect(dash).toEqual(none);
    expect(none.stdout).not.toContain(PNG.toString("base64").slice(0, 40));
  });

  test("takes a JSON-RPC response, a content array and any JSON value", async () => {
    await using room = await Room.open();
    const content = JSON.parse(SCREENSHOT) as { content: unknown };
    const shapes = [
      { jsonrpc: "2.0", id: 7, result: content },
      content.content,
      { deep: [{ er: PDF.toString("base64") }] },
    ];
    for (const shape of shapes) {
      const { code, stdout } = await sluice(["transform", "--store", room.store], { input: JSON.stringify(shape) });
      expect(code).toBe(0);
      expect(stdout.length).toBeLessThan(2000);
    }
    expect((await listed(room.store)).map(({ sha256: hash }) => hash).toSorted()).toEqual(
      [sha256(PDF), sha256(PNG)].toSorted(),
    );
  });

  test("--store memory keeps nothing", async () => {
    await using room = await Room.open();
    const env = { XDG_CACHE_HOME: room.path("cache"), LOCALAPPDATA: room.path("cache"), HOME: room.folder };
    const { code, stdout } = await sluice(["transform", "--store", "memory"], {
      input: WORKBOOK,
      env,
      cwd: room.folder,
    });
    expect(code).toBe(0);
    expect(stdout.length).toBeLessThan(2000);
    expect(await sluice(["artifacts", "list", "--json"], { env })).toMatchObject({ code: 0, stdout: "[]\n" });
  });

  test("keeps artifacts in the user's cache folder where no store is named", async () => {
    await using room = await Room.open();
    const env = { XDG_CACHE_HOME: room.path("cache"), LOCALAPPDATA: room.path("cache"), HOME: room.folder };
    await sluice(["transform"], { input: WORKBOOK, env });
    const { stdout } = await sluice(["artifacts", "list", "--json"], { env });
    expect(JSON.parse(stdout)).toHaveLength(1);
  });

  test("--scope says whose the artifacts are, in long and in short", async () => {
    await using room = await Room.open();
    const scope = ["--scope", "session_id=s1", "--scope=user=u=1", "--scope", "tenant=t", "--scope", "trace=x"];
    expect(await sluice(["transform", "--store", room.store, ...scope], { input: WORKBOOK })).toMatchObject({
      code: 0,
    });
    const [ref] = await listed(room.store);
    expect(ref?.scope).toEqual({ tenant_id: "t", user_id: "u=1", session_id: "s1", trace_id: "x" });
    expect(await listed(room.store, "--scope", "session=s1")).toEqual([]);
    expect(await listed(room.store, ...scope)).toHaveLength(1);
  });

  test("--config is read, and chooses fields by --tool", async () => {
    await using room = await Room.open();
    const field = { field_path: "note", content_type: "note", mime_type: "text/plain", summary_template: "A note." };
    const config = await room.write("config.json", JSON.stringify({ tool_fields: { read_note: [field] } }));
    const input = JSON.stringify({ note: "short and sweet, twenty characters", other: 1 });
    const args = ["transform", "--store", room.store, "--config", config];
    const without = await sluice([...args, "--tool", "another"], { input });
    expect(JSON.parse(without.stdout)).toEqual(JSON.parse(input));
    const chosen = await sluice([...args, "--tool", "read_note"], { input });
    expect(chosen.code).toBe(0);
    expect(chosen.stdout).toContain("A note.");
  });

  test("--dialect mcp gives a CallToolResult, and what needs no change is passed on to the byte", async () => {
    await using room = await Room.open();
    const mcp = ["transform", "--dialect", "mcp", "--store", room.store];
    const result = JSON.parse((await sluice(mcp, { input: SCREENSHOT })).stdout) as { content: { type: string }[] };
    expect(
      result.content.every(({ type }) => ["text", "image", "audio", "resource", "resource_link"].includes(type)),
    ).toBe(true);
    for (const plain of ['{ "content" : [ ] ,"n":1.10e+0400}', '{"content":[],"a":1,"a":2}\n\n', '"\\ud800"']) {
      expect((await sluice(mcp, { input: plain })).stdout).toBe(plain);
    }
  });

  test("--pretty indents and leaves numbers, escapes and duplicate keys as they are", async () => {
    const input = '{"n":123456789012345678901234567890.10,"e":"\\u00e9\\/","d":1,"d":[],"o":{}}';
    const { stdout } = await sluice(["transform", "--pretty", "--store", "memory", "--dialect", "mcp"], { input });
    expect(stdout).toBe(
      '{\n  "n": 123456789012345678901234567890.10,\n  "e": "\\u00e9\\/",\n  "d": 1,\n  "d": [],\n  "o": {}\n}\n',
    );
  });

  test.each([
    ["nothing", "", /^sluice: the input is empty\n$/],
    ["no JSON", "{nope}", /^sluice: the input is not JSON: line 1, column 2: .*[^`]\n$/],
    ["a picture", "\u0089PNG", /^sluice: the input is not JSON: .*; `sluice sniff` shows what it is\n$/],
    ["an open end", '{"a":[1,2', /line 1, column 10: the document ends/],
    ["two values", '{"a":1} {"b":2}', /line 1, column 9: /],
  ])("answers %s with the error in its place, a sentence beside it, and exit code 65", async (_, input, sentence) => {
    const { code, stdout, stderr } = await sluice(["transform", "--store", "memory"], { input });
    expect(code).toBe(65);
    expect(stderr).toMatch(sentence);
    const { error } = JSON.parse(stdout) as { error: Record<string, unknown> };
    expect(error).toEqual({
      code: expect.stringMatching(/^E_JSON_/) as string,
      message: expect.stringMatching(/\w/) as string,
      line: expect.any(Number) as number,
      column: expect.any(Number) as number,
    });
  });

  test("a byte order mark is no error", async () => {
    const mcp = ["transform", "--dialect", "mcp", "--store", "memory"];
    expect(await sluice(mcp, { input: "\ufeff[1]" })).toMatchObject({ code: 0, stdout: "[1]" });
    expect(await sluice([...mcp, "--ndjson"], { input: "\ufeff[1]\n[2]" })).toMatchObject({
      code: 0,
      stdout: "[1]\n[2]\n",
    });
  });

  test("says the line and column of an error", async () => {
    const { stdout } = await sluice(["transform", "--store", "memory"], { input: '{\n  "é": tru }' });
    expect(JSON.parse(stdout)).toMatchObject({ error: { line: 2 } });
  });

  test("a configuration that is wrong exits 2 and names the key", async () => {
    await using room = await Room.open();
    const config = await room.write("config.json", '{"binary_detection":{"enable":true}}');
    const { code, stderr, stdout } = await sluice(["transform", "--store", "memory", "--config", config], {
      input: "{}",
    });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("binary_detection.enable");
  });

  test.each([
    ["no JSON", "{"],
    ["a list", "[]"],
  ])("a configuration that is %s exits 2", async (_, text) => {
    await using room = await Room.open();
    const config = await room.write("config.json", text);
    const { code, stderr } = await sluice(["transform", "--store", "memory", "--config", config], { input: "{}" });
    expect(code).toBe(2);
    expect(stderr).toContain("config.json");
  });

  test("an input that cannot be read exits 66 and makes no store", async () => {
    await using room = await Room.open();
    for (const [path, reason] of [
      ["nowhere.json", "no such file"],
      [".", "folder"],
    ] as const) {
      const { code, stdout, stderr } = await sluice(["transform", path, "--store", room.store], { cwd: room.folder });
      expect([code, stdout]).toEqual([66, ""]);
      expect(stderr).toContain(reason);
    }
    expect((await sluice(["transform", "--config", "nowhere.json"], { cwd: room.folder })).code).toBe(66);
    await expect(readFile(room.store)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

async function* slowly(): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < 3; i++) {
    yield Buffer.from(`{"n":${i}}\n{"half":`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    yield Buffer.from(`${i}}\n`);
  }
}

describe("sluice transform --ndjson", () => {
  test("gives one line for each line, blank ones and a last one without newline included", async () => {
    await using room = await Room.open();
    const input = `{"a":1}\n\n${WORKBOOK}\r\n  \n[2]`;
    const { code, stdout } = await sluice(["transform", "--ndjson", "--store", room.store], { input });
    const lines = stdout.split("\n");
    expect(code).toBe(0);
    expect(lines).toHaveLength(6);
    expect([lines[0], lines[1], lines[3], lines[4], lines[5]]).toEqual(['{"a":1}', "", "", "[2]", ""]);
    expect(JSON.parse(lines[2] ?? "")).toBeTypeOf("object");
    expect((await listed(room.store)).map(({ sha256: hash }) => hash)).toEqual([sha256(PDF)]);
  });

  test("a line that is not JSON becomes an error line, and the rest goes on", async () => {
    const input = `{"a":1}\n{"b":\n${SCREENSHOT}\nnope\n[2]\n`;
    const { code, stdout, stderr } = await sluice(["transform", "--ndjson", "--store", "memory"], { input });
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { error?: unknown });
    expect([code, stderr]).toEqual([65, ""]);
    expect(lines).toHaveLength(5);
    expect(lines[1]).toMatchObject({ error: { code: expect.stringMatching(/^E_JSON_/) as string, line: 2 } });
    expect(lines[3]).toMatchObject({ error: { line: 4, column: expect.any(Number) as number } });
    expect(lines[2]?.error).toBeUndefined();
    expect(lines[4]).toEqual([2]);
  });

  test("writes a line as soon as its own input line has come", async () => {
    const { code, stdout } = await sluice(["transform", "--ndjson", "--store", "memory"], { input: slowly() });
    expect(code).toBe(0);
    expect(stdout).toBe('{"n":0}\n{"half":0}\n{"n":1}\n{"half":1}\n{"n":2}\n{"half":2}\n');
  });
});

describe("sluice sniff", () => {
  test("says in words what a file is, whatever its name", async () => {
    await using room = await Room.open();
    await room.write("a.txt", PNG);
    const { code, stdout } = await sluice(["sniff", "a.txt"], { cwd: room.folder });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^a\.txt: PNG image, 64 × 48, [\d.]+ KB \(image\/png\)\n$/);
  });

  test("--json prints an array in the order of the files", async () => {
    await using room = await Room.open();
    await room.write("a", PNG);
    await room.write("b", PDF);
    const { stdout } = await sluice(["sniff", "b", "a", "--json"], { cwd: room.folder });
    const found = JSON.parse(stdout) as Record<string, unknown>[];
    expect(found.map((one) => [one["file"], one["mime_type"], one["extension"]])).toEqual([
      ["b", "application/pdf", "pdf"],
      ["a", "image/png", "png"],
    ]);
    expect(found.every((one) => typeof one["description"] === "string")).toBe(true);
    expect(Object.keys(found[0] ?? {})).toEqual(["file", "mime_type", "extension", "description"]);
  });

  test("reads standard input to its end, so that the size is right", async () => {
    const { code, stdout } = await sluice(["sniff"], { input: PDF });
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^-: PDF.*${(PDF.length / 1024).toFixed(1)} KB.*\\(application/pdf\\)\n$`));
  });

  test("tells a file by its end, too", async () => {
    await using room = await Room.open();
    const pictures = Object.fromEntries([1, 2].map((n) => [`media/${n}.jpg`, "\u00ff\u00d8".repeat(4_500)]));
    await room.write("a", zipOf({ ...pictures, "[Content_Types].xml": "", "word/document.xml": "x" }));
    const { stdout } = await sluice(["sniff", "a"], { cwd: room.folder });
    expect(stdout).toMatch(/^a: Word document, .* \(application\/vnd\.openxml\S+wordprocessingml\.document\)\n$/);
  });

  test("says JSON of JSON with a long string", async () => {
    await using room = await Room.open();
    await room.write("a", JSON.stringify({ id: 1, text: "lorem ipsum ".repeat(20_000) }));
    await room.write("b", JSON.stringify(["x".repeat(65_536), "y".repeat(65_536)]));
    const { stdout } = await sluice(["sniff", "a", "b"], { cwd: room.folder });
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/^a: JSON, 234\.4 KB: object \{id: integer, text: string\} \(application\/json\)$/),
      expect.stringMatching(/^b: JSON, 128\.0 KB: array of 2 string \(application\/json\)$/),
      "",
    ]);
  });

  test("one file that cannot be read does not keep it from the others; exit code 66", async () => {
    await using room = await Room.open();
    await room.write("a", PNG);
    const { code, stdout, stderr } = await sluice(["sniff", "nowhere", ".", "a"], { cwd: room.folder });
    expect(code).toBe(66);
    expect(stdout).toMatch(/^a: PNG/);
    expect(stderr.trimEnd().split("\n")).toHaveLength(2);
  });

  test("a name cannot speak to the terminal", async () => {
    await using room = await Room.open();
    const name = "\u001b[31mred\u202e";
    await room.write(name, PNG);
    const { stdout } = await sluice(["sniff", name], { cwd: room.folder });
    expect(stdout).toMatch(/^\\u\{1b\}\[31mred\\u\{202e\}: /);
  });
});

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
