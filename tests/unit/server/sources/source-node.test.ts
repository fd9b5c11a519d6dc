import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SourceNode } from "../../../../web/src/server/sources/served-source.js";
import { ToolNode, type ExternalToolConfig } from "../../../../web/src/tools-node.js";
import { CHANGING, program } from "./serving.js";

interface Made {
  readonly node: SourceNode;
  /** How often it was tried. */
  readonly tries: () => number;
}

function made(config: ExternalToolConfig, isOneUsers = false): Made {
  let tries = 0;
  const prepare = async (): Promise<void> => void (tries += 1);
  const over = new AbortController();
  const node = new SourceNode(new ToolNode(config), { isOneUsers, prepare, over: over.signal });
  onTestFinished(() => node[Symbol.asyncDispose]());
  return { node, tries: () => tries };
}

test("it is connected when it is first needed, once for all who ask", async () => {
  const { node, tries } = made(program("own", CHANGING));
  expect(tries()).toBe(0);
  const nodes = await Promise.all(Array.from({ length: 20 }, () => node.connected({})));
  expect(new Set(nodes).size).toBe(1);
  expect(await (await node.connected({})).call("echo", { message: "hello" })).toMatchObject({ value: "hello" });
  expect(tries()).toBe(1);
});

test("after a failure it is left alone for a while, and then it is tried again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-node-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const script = join(folder, "server.mjs");
  const { node, tries } = made(program("own", `"${process.execPath}" "${script}"`));
  await Promise.allSettled(Array.from({ length: 20 }, () => node.connected({})));
  await expect(node.connected({})).rejects.toMatchObject({ code: "E_TOOL_CONNECTION" });
  expect(tries()).toBe(1);
  await writeFile(
    script,
    `await import(${JSON.stringify(new URL("../../tools/changing-server.mjs", import.meta.url).href)});`,
  );
  await expect.poll(() => node.connected({}).then(({ name }) => name, String), { timeout: 10_000 }).toBe("own");
  expect(tries()).toBe(2);
});

test("one who gives up waiting ends it for nobody else", async () => {
  const { node, tries } = made(program("own", CHANGING));
  const left = new AbortController();
  const given = node.connected({ signal: left.signal });
  const other = node.connected({});
  left.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  expect((await other).name).toBe("own");
  expect(tries()).toBe(1);
});

test("where a person is asked, the next who waits connects when that one gives up", async () => {
  const { node, tries } = made(program("own", CHANGING), true);
  const left = new AbortController();
  // Who can be asked is.
  const given = node.connected({ signal: left.signal, pause: async () => null });
  const other = node.connected({});
  left.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  expect((await other).name).toBe("own");
  expect(tries()).toBe(2);
});

test("once it is closed it is not connected any more, and says so", async () => {
  const { node } = made(program("own", CHANGING));
  const connected = node.connected({});
  await node[Symbol.asyncDispose]();
  await expect(connected).rejects.toThrow("was closed");
  await expect(node.connected({})).rejects.toThrow("was closed");
});
