import { describe, expect, test } from "vitest";
import { listed, Room, sluice } from "./command.js";
import { PDF, SCREENSHOT, sha256, WORKBOOK } from "./results.js";

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
