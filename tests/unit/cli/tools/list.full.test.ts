/** `sluice tools list`: presets, and the tools of sources. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { presetNames } from "../../../../web/src/tools/config/presets.js";
import { sendJson } from "../../tools/sources/api.js";
import { COMMAND, listed, Room, ROOT } from "../command.js";
import { sluiceHere } from "../in-process.js";
import { sha256 } from "../results.js";
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
  expect(stderr).toBe('sluice: the tool "bad" is left out: its inputSchema is not the schema of an object\n');
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
    expect(JSON.parse(other.stdout)).toHaveLength(16);
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
    [["frobnicate"], /there is no source "frobnicate"; use one of the presets \(chrome-devtools, /],
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

/** `sluice tools connect`: whether a source can be reached. */
test("a server says which tools and resources it has", async () => {
  await using room = await Room.open();
  const { code, stdout, stderr } = await sluiceHere([
    "tools",
    "connect",
    "every",
    ...(await configOf(room, everything)),
  ]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^every: connected in [\d.]+ m?s\n\d+ tools:\n {2}echo, /);
  expect(stdout).toMatch(/\n7 resources, 2 templates\n$/);
});

test("a server without resources is none the worse for it", async () => {
  await using room = await Room.open();
  const config = await configOf(room, filesIn(room.folder));
  const { code, stdout } = await sluiceHere(["tools", "connect", "files", ...config]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n16 tools:\n[^]*\nno resources\n$/);
});

test("what a server cannot say about its resources hides nothing else", async () => {
  await using room = await Room.open();
  const source = await scripted(room, {
    tools: { look: "return '{}';" },
    before: `
      if (message.method === "initialize") { answer(message.id, JSON.stringify({ protocolVersion: "2025-11-25", capabilities: { tools: {}, resources: {} }, serverInfo: { name: "s", version: "1" } })); return true; }
      if (message.method !== "resources/list") return false;
      write(JSON.stringify({ jsonrpc: "2.0", id: message.id, error: { code: -32603, message: "broken" } }));
      return true;`,
  });
  const { code, stdout, stderr } = await sluiceHere([
    "tools",
    "connect",
    "scripted",
    ...(await configOf(room, source)),
  ]);
  expect(code).not.toBe(0);
  expect(stdout).toMatch(/^scripted: connected in .*\n6 tools:\n {2}look, /);
  expect(stderr).toMatch(/^sluice: the source "scripted" /);
});

test("a preset is connected to with variables of the environment, and a source of its name goes before it", async () => {
  await using room = await Room.open();
  const missing = await sluiceHere(["tools", "connect", "filesystem"]);
  expect([missing.code, missing.stdout]).toEqual([77, ""]);
  expect(missing.stderr).toContain("FILESYSTEM_ROOT");
  const there = await sluiceHere(["tools", "connect", "filesystem"], {
    cwd: ROOT,
    env: { FILESYSTEM_ROOT: room.folder },
  });
  expect(there.stdout).toMatch(/^filesystem: connected/);
  const own = await sluiceHere([
    "tools",
    "connect",
    "filesystem",
    ...(await configOf(room, { ...everything, name: "filesystem" })),
  ]);
  expect(own.stdout).toContain("get-tiny-image");
});

test.each([
  ["an address where nobody listens", down],
  ["a command that there is not", { ...down, connection: "sluice-no-such-command --stdio" }],
  ["a command that ends at once", { ...down, connection: `${JSON.stringify(process.execPath)} -e 0` }],
])("%s exits 69 with a sentence", async (_, source) => {
  await using room = await Room.open();
  const { code, stdout, stderr } = await sluiceHere(["tools", "connect", "down", ...(await configOf(room, source))]);
  expect([code, stdout]).toEqual([69, ""]);
  expect(stderr).toMatch(/^sluice: .*down.*\n$/);
});

test("a program that ends at once is heard: what it said last stands before the sentence", async () => {
  await using room = await Room.open();
  const script = "console.error('\\u001b[31mMissing API_KEY'); process.exit(1)";
  const source = { ...down, connection: `${JSON.stringify(process.execPath)} -e ${JSON.stringify(script)}` };
  const { code, stderr } = await sluiceHere(["tools", "connect", "down", ...(await configOf(room, source))]);
  expect(code).toBe(69);
  expect(stderr).toMatch(/^(down: .*Missing API_KEY\n)+sluice: .*down.*\n$/);
  expect(stderr).not.toContain("\u001b");
});

/** `sluice resources`: what a source has to read. */
const read = (source: string, uri: string, ...more: readonly string[]): string[] => [
  "resources",
  "read",
  source,
  uri,
  ...more,
];

describe("lists", () => {
  test("of resources are lines with tabs, or an array", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const { code, stdout, stderr } = await sluiceHere(["resources", "list", "every", ...config]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^demo:\/\/resource\/static\/document\/features\.md\ttext\/markdown\t\tfeatures\.md$/m);
    const array = JSON.parse(
      (await sluiceHere(["resources", "list", "every", "--json", ...config])).stdout,
    ) as unknown[];
    expect(array).toHaveLength(stdout.trimEnd().split("\n").length);
    expect(array[0]).toMatchObject({ uri: expect.stringContaining("demo://") as string, mime_type: "text/markdown" });
  });

  test("of templates as well", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const { stdout } = await sluiceHere(["resources", "templates", "every", ...config]);
    expect(stdout).toContain("demo://resource/dynamic/text/{resourceId}\ttext/plain\t");
    expect(
      JSON.parse((await sluiceHere(["resources", "templates", "every", "--json", ...config])).stdout),
    ).toHaveLength(2);
  });

  test("of a source without resources are a sentence, and exit 1", async () => {
    await using room = await Room.open();
    const config = await configOf(room, filesIn(room.folder));
    for (const verb of ["list", "templates"]) {
      const { code, stdout, stderr } = await sluiceHere(["resources", verb, "files", ...config]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toMatch(/^sluice: the source files has no resources: .*\n$/);
    }
  });
});

describe("reading", () => {
  const uri = "demo://resource/static/document/features.md";

  test("a short text prints it as it is, and stores it", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const { code, stdout, stderr } = await sluiceHere(read("every", uri, "--store", room.store, ...config));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^# Everything Server/);
    expect((await listed(room.store)).map((ref) => ref.sha256)).toEqual([sha256(Buffer.from(stdout))]);
    expect(stderr).toMatch(/^sluice: every: text\/markdown, .* KB: stored as every_[0-9a-f]{12}\n$/);
  });

  test("with --json gives contents and references, for a scope", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const args = read("every", uri, "--json", "--scope", "user=u1", "--store", room.store, ...config);
    const { contents, artifacts } = JSON.parse((await sluiceHere(args)).stdout) as Record<string, unknown[]>;
    expect(contents).toMatchObject([{ kind: "text", uri, mime_type: "text/markdown" }]);
    expect(artifacts).toMatchObject([{ scope: { user_id: "u1" }, namespace: "every" }]);
  });

  test("several contents names each; bytes are stored and told", async () => {
    await using room = await Room.open();
    const pdf = Buffer.from("%PDF-1.7\n".padEnd(50_000, "x"));
    const source = await scripted(room, {
      tools: {},
      before: `
        if (message.method === "initialize") { answer(message.id, JSON.stringify({ protocolVersion: "2025-11-25", capabilities: { resources: {} }, serverInfo: { name: "s", version: "1" } })); return true; }
        if (message.method !== "resources/read") return false;
        const uri = message.params.uri;
        answer(message.id, JSON.stringify({ contents: [{ uri: uri + "/a", mimeType: "text/plain", text: "one\\n" }, { uri: uri + "/b", mimeType: "application/pdf", blob: Buffer.from("%PDF-1.7\\n".padEnd(50000, "x")).toString("base64") }] }));
        return true;`,
    });
    const config = await configOf(room, source);
    const { code, stdout, stderr } = await sluiceHere(read("scripted", "x://y", "--store", room.store, ...config));
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^==> x:\/\/y\/a <==\none\n==> x:\/\/y\/b <==\nPDF.*\n$/),
    ]);
    expect((await listed(room.store)).map((ref) => ref.sha256)).toContain(sha256(pdf));
    expect(stderr.trimEnd().split("\n")).toHaveLength(2);
  });

  test("what is not there exits 1", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const { code, stdout, stderr } = await sluiceHere(read("every", "demo://nope", "--store", "memory", ...config));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^sluice: /);
  });
});

/** The same commands on a terminal: tables, and a line that says what is waited for. */
async function onTerminal(room: Room, ...args: readonly string[]): Promise<string> {
  const { NO_COLOR: _, ...env } = process.env;
  const line = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(" ");
  const options = { cwd: room.folder, env: { ...env, TERM: "xterm" } };
  const { stdout } = await promisify(execFile)("script", ["-qefc", `stty cols 90; ${line}`, "/dev/null"], options);
  return stdout.replaceAll("\r\n", "\n");
}

// util-linux's `script` gives a command a terminal.
describe.runIf(process.platform === "linux")("on a terminal", () => {
  test("presets are a table, with every variable to be read", async () => {
    await using room = await Room.open();
    const text = await onTerminal(room, "tools", "list");
    expect(text).toMatch(/PRESET +FOR +NEEDS/);
    expect(text).toContain("TABLEAU_PAT_VALUE");
    expect(text).toContain("sluice tools connect PRESET");
  });

  test("tools and resources are tables that fit", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const tools = await onTerminal(room, "tools", "list", ...config);
    expect(tools).toMatch(/TOOL +EFFECTS +DESCRIPTION/);
    expect(tools).toMatch(/^every\.get-annotated-message +read +Demonstrates .*…$/m);
    expect(await onTerminal(room, "resources", "list", "every", ...config)).toMatch(/URI +TYPE +SIZE +NAME/);
  });

  test("a call shows what the server says of its progress, and takes the line away", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const args = JSON.stringify({ duration: 3, steps: 6 });
    const call = ["tools", "call", "every.trigger-long-running-operation", "--args", args, "--store", "memory"];
    const text = await onTerminal(room, ...call, ...config);
    expect(text).toMatch(/\r\u001b\[Ktrigger-long-running-operation: \d of 6: \d+ s/);
    expect(text).toMatch(/\r\u001b\[K"Long running operation completed[^\n]*\n$/);
  });
});
