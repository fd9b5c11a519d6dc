import { expect, onTestFinished, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { memoryState } from "../../../../web/src/serve.js";
import { ServedSource, SharedProviders } from "../../../../web/src/server/sources/served-source.js";
import { OAuthManager, readToolConfig, type ToolNode } from "../../../../web/src/tools-node.js";
import { UserFiles } from "../../../../web/src/files.js";
import { CHANGING, program } from "./serving.js";

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
