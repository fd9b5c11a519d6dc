import { describe, expect, test } from "vitest";
import { zipOf } from "../core/zip.js";
import { Room, sluice } from "./command.js";
import { PDF, PNG } from "./results.js";

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
