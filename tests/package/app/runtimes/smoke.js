/**
 * What every runtime and every bundler is tried with: a result with a file in it is reduced and restored; sources of tools are
 * called, an MCP server and an HTTP API, both of which a `fetch` of ours stands for; and a planner calls a tool of its own.
 * @module
 */
import { createSluice, MemoryArtifactStore } from "mcp-sluice";
import { gateFetch } from "mcp-sluice/mcp";
import { OpenAiClient, ReactPlanner, createScriptedModel, tool } from "mcp-sluice/planner";
import { ToolNode } from "mcp-sluice/tools";
import { roundTrip } from "../round-trip.js";

const PDF = `%PDF-1.7\n${"x".repeat(100_000)}`;

/** Answers with facts that are the same everywhere. `options` are those of whoever loads the core: `wasm`. */
export async function smoke(options = {}) {
  return {
    result: await roundTrip((own) => createSluice({ ...own, ...options }), new MemoryArtifactStore()),
    mcp: await called({ name: "far", transport: "mcp", connection: "https://mcp.example/mcp" }, mcpServer, options),
    http: await called({ name: "far", transport: "http", connection: JSON.stringify(API) }, httpApi, options),
    local: await planned(options),
    gate: typeof gateFetch,
  };
}

/** What a call of the only tool answers. */
async function called(config, fetch, options) {
  const store = new MemoryArtifactStore();
  const node = new ToolNode(config, { store, fetch, ...options });
  await node.connect();
  const [{ name }] = node.getTools();
  const { text, artifacts, isError } = await node.call(name, {});
  await node.close();
  const [{ id }] = artifacts;
  return { name, isError, named: text.includes(id), stored: await isStored(store, id) };
}

/** What a planner's model is told of a tool in the same program. */
async function planned(options) {
  const artifactStore = new MemoryArtifactStore();
  const report = tool({
    name: "report",
    description: "A report.",
    input: { type: "object" },
    run: () => ({ data: btoa(PDF) }),
  });
  const fetch = createScriptedModel(({ last }) =>
    last.role === "tool" ? { text: "done" } : { calls: [{ name: "report", args: {} }] },
  );
  const llm = new OpenAiClient({ model: "scripted", baseUrl: "https://model.example/v1", fetch });
  const { answer, trajectory } = await new ReactPlanner({ catalog: [report], llm, artifactStore, ...options }).run(
    "Go",
  );
  const [{ observation, artifacts }] = trajectory.steps[0].calls;
  return { answer, short: observation.length < 1_000, stored: await isStored(artifactStore, artifacts[0].id) };
}

async function isStored(store, id) {
  return new TextDecoder().decode((await store.get(id)) ?? new Uint8Array()) === PDF;
}

const API = {
  openapi: "3.1.0",
  servers: [{ url: "https://api.example" }],
  paths: { "/report": { get: { operationId: "report" } } },
};

async function httpApi() {
  return new Response(PDF, { headers: { "content-type": "application/pdf" } });
}

const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "far", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "report", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({
    content: [
      { type: "resource", resource: { uri: "file:///report.pdf", mimeType: "application/pdf", blob: btoa(PDF) } },
    ],
  }),
};

/** Streamable HTTP without a stream and without a session. */
async function mcpServer(url, init) {
  if (init?.method !== "POST") return new Response(null, { status: 405 });
  const { id, method, params } = JSON.parse(init.body);
  if (id === undefined) return new Response(null, { status: 202 });
  const result = ANSWERS[method]?.(params);
  const error = { code: -32601, message: `no method ${method}` };
  return Response.json({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) });
}
