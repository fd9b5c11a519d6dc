import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
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
    ["a picture", "\u0089PNG", /^sluice: the input is not JSON: .*; `sluice sniff` tells what it is\n$/],
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
