/** A store that hangs while something is read from it: whoever reads is answered in time, whichever way they came. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { STORE_SILENCE } from "../../../web/src/core/store-access.js";
import { createSluice } from "../../../web/src/index.js";
import { gateFetch } from "../../../web/src/mcp.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import { type Call, faulty } from "../core/faulty-store.js";
import { serverScript } from "./sources/mcp/server-script.js";

const usual = { ...STORE_SILENCE };
beforeEach(() => void Object.assign(STORE_SILENCE, { bytes: 200, look: 100 }));
afterEach(() => void Object.assign(STORE_SILENCE, usual));

/** A store that hangs at some calls from `hang` on. */
function hangingStore(calls: readonly Call[]) {
  const inner = new MemoryArtifactStore();
  let hangs = false;
  const { store } = faulty(inner, (call) => (hangs && calls.includes(call) ? new Promise(() => undefined) : undefined));
  return {
    inner,
    store,
    hang: (): void => {
      hangs = true;
    },
  };
}

const PDF = Buffer.alloc(30_000, 7).fill("%PDF-1.7\n", 0, 9);

test.each<Call>(["openReader", "read"])("restore, at %s", async (call) => {
  const { store, hang } = hangingStore([call]);
  const sluice = await createSluice({ store });
  const { value } = await sluice.transform({ pdf: PDF.toString("base64") }, { dialect: "mcp" });
  hang();
  await expect(sluice.restore(value)).rejects.toMatchObject({ code: "E_STORE_READ" });
});

/** A server with one resource, a PDF, that counts how often it is asked for it. */
const SERVER = serverScript({
  tools: {},
  prelude: "let reads = 0;",
  before: `
    if (message.method === "initialize") answer(message.id, JSON.stringify({ protocolVersion: "2025-11-25",
      capabilities: { tools: {}, resources: {} }, serverInfo: { name: "script", version: "1" } }));
    else if (message.method === "resources/read") answer(message.id, JSON.stringify({ contents: [
      { uri: "note:" + (reads += 1), mimeType: "application/pdf", blob: base64(1, 30000) }] }));
    else return false;
    return true;`,
});

async function connected(store: MemoryArtifactStore): Promise<ToolNode> {
  const script = `data:text/javascript;base64,${Buffer.from(SERVER).toString("base64")}`;
  const connection = `"${process.execPath}" --input-type=module -e "await import('${script}')"`;
  const node = new ToolNode({ name: "far", transport: "mcp", connection, timeout_s: 5 }, { store });
  await node.connect();
  return node;
}

test("a resource that was read before: it is asked for again", async () => {
  const { store, hang } = hangingStore(["exists", "stat"]);
  await using node = await connected(store as MemoryArtifactStore);
  const uris = async (): Promise<readonly string[]> =>
    (await node.readResource("note:today")).contents.map(({ uri }) => uri);
  expect([await uris(), await uris()]).toEqual([["note:1"], ["note:1"]]);
  hang();
  expect(await uris()).toEqual(["note:2"]);
});

test("artifact_read of a source is answered with what is wrong", async () => {
  const { inner, store, hang } = hangingStore(["openReader", "stat"]);
  await using node = await connected(store as MemoryArtifactStore);
  const { id } = await inner.putText("words", { namespace: "far" });
  hang();
  const { value } = await node.call("artifact_read", { uri: `artifact://${id}`, lines: "1" });
  expect(JSON.stringify(value)).toMatch(/store .*(did not answer|silent)/);
});

test("an artifact in an argument of an SDK's client: the call is answered with what is wrong", async () => {
  const { inner, store, hang } = hangingStore(["openReader", "stat"]);
  const { id } = await inner.putText("words");
  const fetch = gateFetch(async () => new Response(null, { status: 500 }), { store });
  hang();
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "far", arguments: { text: `artifact://${id}` } },
  });
  const response = await fetch("http://far.example/mcp", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(await response.text()).toContain("its store did not answer in time");
});
