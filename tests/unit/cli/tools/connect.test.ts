/** `sluice tools connect`: whether a source can be reached. */
import { expect, test } from "vitest";
import { ROOT, Room } from "../command.js";
import { sluiceHere } from "../in-process.js";
import { configOf, down, everything, filesIn, scripted } from "./sources.js";

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
  expect(stdout).toMatch(/\n15 tools:\n[^]*\nno resources\n$/);
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
  expect(stdout).toMatch(/^scripted: connected in .*\n5 tools:\n {2}look, /);
  expect(stderr).toMatch(/^sluice: The source "scripted" /);
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
