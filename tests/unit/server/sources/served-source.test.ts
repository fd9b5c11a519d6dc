import { expect, onTestFinished, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { memoryState } from "../../../../web/src/serve.js";
import { ServedSource, SharedProviders, SourceNode } from "../../../../web/src/server/sources/served-source.js";
import { OAuthManager, readToolConfig, ToolNode, type ExternalToolConfig } from "../../../../web/src/tools-node.js";
import { UserFiles } from "../../../../web/src/files.js";
import { CHANGING, program } from "./serving.js";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

function source(limits: { readonly maxNodes: number; readonly idle: number }): ServedSource {
  const given = program("own", CHANGING, { user_files: true });
  const store = new MemoryArtifactStore();
  const manager = new OAuthManager({ providers: {} });
  const served = new ServedSource({
    given,
    config: readToolConfig(given),
    options: { store, userFiles: new UserFiles({ store: new MemoryArtifactStore() }) },
    variables: () => undefined,
    providers: new SharedProviders({ manager, states: memoryState().runs, client: undefined }),
    onEvent: () => undefined,
    over: new AbortController().signal,
    ...limits,
  });
  onTestFinished(() => served[Symbol.asyncDispose]());
  return served;
}

const of = (served: ServedSource, user_id: string): Promise<ToolNode> => served.connected({ scope: { user_id } });

test("as many users have it as there may be, and none is taken from whoever works with it", async () => {
  const served = source({ maxNodes: 2, idle: 60_000 });
  const [ada] = [await of(served, "ada"), await of(served, "bob")];
  await expect(of(served, "eve")).rejects.toMatchObject({ code: "E_TOOL_RATE_LIMIT" });
  expect(await of(served, "ada")).toBe(ada);
  expect((await ada.call("echo", { message: "hello" }, { scope: { user_id: "ada" } })).value).toBe("hello");
});

test("who did not use it for long makes room, and has it again when they come back", async () => {
  const clock = performance.now.bind(performance);
  let later = 0;
  vi.spyOn(performance, "now").mockImplementation(() => clock() + later);
  onTestFinished(() => void vi.restoreAllMocks());
  const served = source({ maxNodes: 2, idle: 60_000 });
  const ada = await of(served, "ada");
  later = 40_000;
  const bob = await of(served, "bob");
  later = 80_000;
  await of(served, "eve");
  expect(() => ada.getTools()).toThrow(/not connected/);
  expect(bob.getTools().length).toBeGreaterThan(0);
  later = 150_000;
  expect((await of(served, "ada")).getTools().length).toBeGreaterThan(0);
});

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
