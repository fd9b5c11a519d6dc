/** `sluice tools list`: presets, and the tools of sources. */
import { describe, expect, test } from "vitest";
import { presetNames } from "../../../../web/src/tools/config/presets.js";
import { ROOT, Room } from "../command.js";
import { sluiceHere } from "../in-process.js";
import { sendJson } from "../../tools/sources/api.js";
import { configOf, down, everything, filesIn, scripted, unset, weather } from "./sources.js";

describe("presets", () => {
  test("are listed in a pipe with what each is for and which variables it needs", async () => {
    const { code, stdout, stderr } = await sluiceHere(["tools", "list"]);
    expect([code, stderr]).toEqual([0, ""]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines.map((line) => line.split("\t")[0])).toEqual(presetNames());
    expect(lines.every((line) => line.split("\t").length === 3)).toBe(true);
    expect(lines).toContain("filesystem\tRead and write files in one folder\tFILESYSTEM_ROOT");
    expect(stdout).toMatch(/^github\t.*\teach user's sign-in$/m);
  });

  test("are an array with --json", async () => {
    const presets = JSON.parse((await sluiceHere(["tools", "list", "--json"])).stdout) as { name: string }[];
    expect(presets.map(({ name }) => name)).toEqual(presetNames());
    expect(presets).toContainEqual({
      name: "sqlite",
      description: "Query and change a SQLite database",
      auth_type: "none",
      variables: ["SQLITE_FILE"],
    });
  });
});

describe("tools", () => {
  test("of every source of the file, in its order, on one line each", async () => {
    await using room = await Room.open();
    const api = await weather((_, response) => sendJson(response, {}));
    const config = await configOf(room, api, everything);
    const { code, stdout, stderr } = await sluiceHere(["tools", "list", ...config]);
    expect([code, stderr]).toEqual([0, ""]);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"));
    expect(rows.every((row) => row.length === 3 && ["read", "external"].includes(row[1] ?? ""))).toBe(true);
    expect(rows.slice(0, 2).map(([name]) => name)).toEqual(["weather.map", "weather.echo"]);
    expect(rows[0]?.[2]).toBe("A map of the weather");
    expect(rows.map(([name]) => name)).toContain("every.resources_read");
  });

  test("with --json are an array with schemas", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const tools = JSON.parse((await sluiceHere(["tools", "list", "--json", ...config])).stdout) as Record<
      string,
      unknown
    >[];
    expect(tools.every((tool) => Object.keys(tool).join() === "name,description,input_schema,side_effects")).toBe(true);
    expect(tools.find(({ name }) => name === "every.get-sum")).toMatchObject({
      side_effects: "read",
      input_schema: { type: "object", required: ["a", "b"] },
    });
  });

  test("of the sources that are named, presets and those of the file, and of no other", async () => {
    await using room = await Room.open();
    const api = await weather((_, response) => sendJson(response, {}));
    const config = await configOf(room, everything, api);
    // In the checkout npx finds the server without a network.
    const options = { cwd: ROOT, env: { FILESYSTEM_ROOT: room.folder } };
    const { code, stdout } = await sluiceHere(["tools", "list", "filesystem", "every", ...config], options);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^filesystem\.read_media_file\t/m);
    expect(stdout).toMatch(/^every\.echo\t/m);
    expect(stdout).not.toMatch(/^weather\./m);
  });

  test("what a server writes about itself cannot reach the terminal as more than text", async () => {
    await using room = await Room.open();
    const source = await scripted(room, {
      tools: {},
      before:
        'if (message.method !== "tools/list") return false; write(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { tools: [{ name: "t", description: "a\\u001b[31m\\u202eb\\tc", inputSchema: { type: "object" } }] } })); return true;',
    });
    const { stdout } = await sluiceHere(["tools", "list", ...(await configOf(room, source))]);
    expect(stdout.split("\n")[0]).toBe("scripted.t\texternal\ta\\u{1b}[31m\\u{202e}b c");
  });
});

test("a tool that a server lists wrongly is named with the reason, and the others are listed", async () => {
  await using room = await Room.open();
  const tools = '[{ name: "bad\\u202e", inputSchema: "nope" }, { name: "good", inputSchema: { type: "object" } }]';
  const source = await scripted(room, {
    tools: {},
    before: `if (message.method !== "tools/list") return false; write(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { tools: ${tools} } })); return true;`,
  });
  const { code, stdout, stderr } = await sluiceHere(["tools", "list", ...(await configOf(room, source))]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^scripted\.good\t/);
  expect(stderr).toBe('sluice: the tool "bad" is left out: its inputSchema is no schema of an object\n');
});

describe("a source that fails", () => {
  test("costs the others nothing; the first gives the exit code", async () => {
    await using room = await Room.open();
    const files = filesIn(room.folder);
    const first = await sluiceHere(["tools", "list", ...(await configOf(room, down, files, unset))]);
    expect(first.code).toBe(69);
    expect(first.stdout).toMatch(/^files\.read_media_file\t/m);
    expect(first.stderr).toMatch(/^sluice: .*"down".*\nsluice: .*SLUICE_TEST_UNSET_TOKEN.*\n$/);
    const other = await sluiceHere(["tools", "list", "--json", ...(await configOf(room, unset, files, down))]);
    expect(other.code).toBe(77);
    expect(JSON.parse(other.stdout)).toHaveLength(15);
  });

  test("that is a program shows the last that it wrote, before the sentence and without what it was told", async () => {
    await using room = await Room.open();
    const script = "console.error('\\u001b[31mno such key: ' + process.env.KEY); process.exit(1)";
    const connection = `${JSON.stringify(process.execPath)} -e ${JSON.stringify(script)}`;
    const source = { ...down, connection, env: { KEY: "s3cret-key" } };
    const { code, stderr } = await sluiceHere(["tools", "list", ...(await configOf(room, source))]);
    expect(code).toBe(69);
    expect(stderr).toMatch(/^down: .*no such key: \*\*\*\nsluice: .*"down".*\n$/);
    expect(stderr).not.toContain("s3cret");
  });

  test("for want of a person who signs in says what to do instead", async () => {
    const { code, stdout, stderr } = await sluiceHere(["tools", "list", "github"]);
    expect([code, stdout]).toEqual([77, ""]);
    expect(stderr).toBe("sluice: you are not signed in to github: run sluice tools connect github\n");
  });
});

describe("what cannot be meant", () => {
  test.each([
    [["filesytem"], /did you mean filesystem\?/],
    [["frobnicate"], /there is no source "frobnicate"; presets are chrome-devtools, /],
  ])("the name %j exits 2", async (names, sentence) => {
    const { code, stdout, stderr } = await sluiceHere(["tools", "list", ...names]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
    expect(stderr).toMatch(/Try: sluice tools list --help\n$/);
  });

  test.each([
    ['{"sources":[{"name":"a","transport":"mcp","connection":"x","timeout":3}]}', /sources\[0\]/],
    ['{"sources":[{"name":"a","transport":"ftp","connection":"secret"}]}', /sources\[0\]\.transport/],
    ['{"servers":[]}', /sources/],
    ['{"sources":', /not JSON/],
    [
      '{"sources":[{"name":"a","transport":"mcp","connection":"node x","artifact_extraction":{"max_inlin":1}}]}',
      /max_inlin/,
    ],
  ])("the file %s exits 2, with its place", async (text, sentence) => {
    await using room = await Room.open();
    const { code, stdout, stderr } = await sluiceHere([
      "tools",
      "list",
      "--config",
      await room.write("sources.json", text),
    ]);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toContain("secret");
  });

  test("a file that is not there exits 66", async () => {
    expect((await sluiceHere(["tools", "list", "--config", "/nowhere/sources.json"])).code).toBe(66);
  });
});
