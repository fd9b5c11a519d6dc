/** ToolNode over real servers: names, calls, deaths, changes. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ExternalToolConfig } from "../../../web/src/tools/config/config.js";
import type { ToolNodeOptions } from "../../../web/src/tools/options.js";
import type { ToolNodeEvent } from "../../../web/src/tools/event.js";
import { toVariables } from "../../../web/src/tools/config/variables.js";
import { ToolRegistry } from "../../../web/src/tools/registry.js";
import { ToolNode } from "../../../web/src/tools-node.js";

const SERVER = fileURLToPath(new URL("changing-server.mjs", import.meta.url));

/** The tool that is offered beside the source's own. */
const ADDED = ["own.artifact_read", "own.artifact_edit"];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-node-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

function node(config: Partial<ExternalToolConfig> = {}, options: ToolNodeOptions = {}): ToolNode {
  const state = join(folder, `state-${Math.random()}`);
  return new ToolNode(
    {
      name: "own",
      transport: "mcp",
      connection: `"${process.execPath}" "${SERVER}" "${state}"`,
      retry_policy: { wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 },
      ...config,
    },
    { store: new MemoryArtifactStore(), ...options },
  );
}

async function connected(config: Partial<ExternalToolConfig> = {}, options: ToolNodeOptions = {}): Promise<ToolNode> {
  const own = node(config, options);
  await own.connect();
  return own;
}

test("a result is answered however deep it nests", async () => {
  await using own = await connected();
  for (const levels of [500, 600, 3_000]) {
    const { text, artifacts } = await own.call("nest", { levels });
    expect(artifacts).toHaveLength(levels > 512 ? 1 : 0);
    expect(text).toContain(artifacts[0]?.id ?? '"a":1');
    expect(text.length).toBeLessThan(10_000);
  }
});

describe("names", () => {
  test("tools are offered under the source's name, and called by that or by their own", async () => {
    await using own = await connected();
    expect(own.getTools().map(({ name }) => name)).toContain("own.echo");
    for (const name of ["own.echo", "echo"]) expect((await own.call(name, { message: "hello" })).text).toBe('"hello"');
    await expect(own.call("own.nothing")).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
  });

  test("the filter leaves tools out, which then cannot be called", async () => {
    await using own = await connected({ tool_filter: ["echo$", "p"] });
    expect(own.getTools().map(({ name }) => name)).toEqual(["own.echo", "own.pdf", "own.pid", ...ADDED]);
    await expect(own.call("fail")).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
  });

  test("a name that is taken is an error at connect, and nothing of the source stays", async () => {
    const registry = new ToolRegistry();
    await using first = node({ tool_filter: ["echo"] }, { registry });
    await first.connect();
    const second = node({ tool_filter: ["echo", "pid"] }, { registry });
    await expect(second.connect()).rejects.toThrow(/"own\.echo" is taken by another tool/);
    expect(registry.list().map(({ name }) => name)).toEqual(["own.echo", ...ADDED]);
    expect(() => second.getTools()).toThrow(/not connected/);
  });

  test("closing takes the tools back, and the source may be connected again", async () => {
    const registry = new ToolRegistry();
    const own = node({}, { registry });
    await own.connect();
    await own.close();
    expect(registry.list()).toEqual([]);
    await expect(own.call("echo")).rejects.toThrow(/call connect first/);
    await own.connect();
    expect(registry.find("own.echo")).toBeDefined();
    await own.close();
  });
});

/** Tells how many bytes were stored; fails at `echo`. */
const measured: ExternalToolConfig["output_transformer"] = async (tool, document, { segments }) => {
  if (tool === "echo") throw new Error("a secret of the host's");
  const [segment] = segments;
  const bytes = await new Response(await segment?.open()).arrayBuffer();
  return { tool, bytes: bytes.byteLength, blocks: (document as { content: unknown[] }).content.length };
};

describe("results", () => {
  test("bytes go to the store, and the observation names them", async () => {
    const events: ToolNodeEvent[] = [];
    const store = new MemoryArtifactStore();
    await using own = await connected({}, { store, onEvent: (event) => events.push(event) });
    const { value, artifacts, isError } = await own.call("pdf", {}, { scope: { user_id: "ada" } });
    expect(isError).toBe(false);
    expect(JSON.stringify(value)).toContain("own_");
    expect(artifacts).toMatchObject([{ mime_type: "application/pdf", size_bytes: 3009, namespace: "own" }]);
    const id = artifacts[0]?.id ?? "";
    expect((await store.get(id, { user_id: "ada" }))?.length).toBe(3009);
    expect(await store.get(id)).toBeNull();
    expect(events).toMatchObject([{ kind: "stored", tool: "own.pdf", artifacts: [{ id }] }]);
  });

  test("what a tool says of its failure is a result, and not tried again", async () => {
    const events: ToolNodeEvent[] = [];
    await using own = await connected({}, { onEvent: (event) => events.push(event) });
    const { value, isError } = await own.call("fail");
    expect({ value, isError }).toEqual({ value: { isError: true, content: "no such view" }, isError: true });
    expect(events).toEqual([]);
  });

  test("a transformer takes the place of the ordinary layers; one that fails is answered for by them", async () => {
    const events: ToolNodeEvent[] = [];
    await using own = await connected({ output_transformer: measured }, { onEvent: (event) => events.push(event) });
    expect((await own.call("pdf")).value).toEqual({ tool: "pdf", bytes: 3009, blocks: 1 });
    expect((await own.call("echo", { message: "plain" })).text).toBe('"plain"');
    expect(events.map(({ kind }) => kind)).toEqual(["stored", "failed"]);
    expect(JSON.stringify(events)).not.toContain("secret");
  });

  test("a transformer may ask for what the source sent, and is not waited for too long", async () => {
    const seen: unknown[] = [];
    await using own = await connected({
      transformer_input: "raw",
      transformer_timeout_s: 2,
      output_transformer: (tool, document) => {
        seen.push(document);
        return tool === "echo" ? new Promise(() => undefined) : "done";
      },
    });
    expect((await own.call("pdf")).text).toBe('"done"');
    expect(JSON.stringify(seen)).toContain('"blob":"JVBERi0xLjQK');
    expect((await own.call("echo", { message: "in time" })).text).toBe('"in time"');
  });
});

describe("a server that dies", () => {
  test("under a call that may be repeated is started again, and the call is answered", async () => {
    await using own = await connected();
    expect((await own.call("die_once")).text).toBe('"alive again"');
  });

  test("under a call that may not be is an error, and the next call starts it again", async () => {
    await using own = await connected();
    const before = (await own.call("pid")).text;
    await expect(own.call("die")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION", category: "network" });
    expect((await own.call("pid")).text).not.toBe(before);
  });
});

describe("a server that changes", () => {
  test("is listed again, and a tool that is gone cannot be called any more", async () => {
    const events: ToolNodeEvent[] = [];
    const registry = new ToolRegistry();
    await using own = await connected({}, { registry, onEvent: (event) => events.push(event) });
    await own.call("change");
    await vi.waitFor(() => expect(events.map(({ kind }) => kind)).toContain("tools_changed"), 20_000);
    expect(registry.list().map(({ name }) => name)).toEqual(["own.echo", "own.added", ...ADDED]);
    expect((await own.call("added")).text).toBe('"added"');
    await expect(own.call("pid")).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
  });

  test("to what cannot be offered keeps the tools it had, and says why", async () => {
    const events: ToolNodeEvent[] = [];
    await using own = await connected({}, { onEvent: (event) => events.push(event) });
    const before = own.getTools().length;
    await own.call("clash");
    await vi.waitFor(() => expect(events.map(({ kind }) => kind)).toContain("tools_changed"), 20_000);
    expect(events.find(({ kind }) => kind === "tools_changed")).toMatchObject({ error: { code: "E_TOOL_CONFIG" } });
    expect(own.getTools()).toHaveLength(before);
  });
});

describe("a program that wants a credential", () => {
  const credentials: Partial<ExternalToolConfig> = { auth_type: "bearer", auth_config: { token: "${OWN_SECRET}" } };
  const variables = toVariables({ OWN_SECRET: "a secret" });

  test("has it in the variable of its environment that is named", async () => {
    const auth_config = { ...credentials.auth_config, env: "OWN_TOKEN" };
    await using own = await connected({ ...credentials, auth_config }, { variables });
    expect((await own.call("token")).text).toBe('"a secret"');
  });

  test("is not started where none is named", async () => {
    await expect(connected(credentials, { variables })).rejects.toMatchObject({ code: "E_TOOL_CONFIG" });
  });
});

describe("giving up", () => {
  test("a call that its caller ends is ended at the server too", async () => {
    const events: ToolNodeEvent[] = [];
    await using own = await connected({}, { onEvent: (event) => events.push(event) });
    const caller = new AbortController();
    const call = own.call("hang", {}, { signal: caller.signal });
    // What it says when it has the call.
    await vi.waitFor(() => expect(events).toHaveLength(1), 20_000);
    caller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    expect((await own.call("cancelled")).text).toBe('"1"');
  });
});

describe("configuration", () => {
  test.each([
    [{ nam: "x" }, /name/],
    [{ connection: "ws://example.com" }, /WebSocket/],
    [{ tool_filter: ["("] }, /tool_filter/],
  ])("what is wrong is told at once: %j", (config, sentence) => {
    expect(() => node(config as Partial<ExternalToolConfig>)).toThrow(sentence);
  });

  test("a variable without a value is told at connect, and an extraction that is wrong by the core", async () => {
    await expect(node({ connection: "${NO_SUCH_SERVER_9}" }).connect()).rejects.toThrow(/NO_SUCH_SERVER_9/);
    await expect(node({ artifact_extraction: { max_inline_size: -1 } }).connect()).rejects.toMatchObject({
      code: "E_CONFIG_VALUE",
      path: "max_inline_size",
    });
  });
});
