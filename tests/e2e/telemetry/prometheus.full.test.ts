/** Debian's Prometheus scrapes a server and a proxy that do real work, and the dashboard finds all of its metrics there. */
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { serve as serveHttp } from "@hono/node-server";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, onTestFinished, test } from "vitest";
import { findOnPath } from "../../../scripts/on-path.mjs";
import { INSTRUMENTS } from "../../../web/src/telemetry/instruments.js";
import { createScriptedModel } from "../../../web/src/planner/llm/scripted-model.js";
import { Room } from "../../unit/cli/command.js";
import { begin, called, EVERYTHING, posted, serve, started, type Served } from "../../unit/cli/serve/serving.js";
import { TestPrometheus } from "./prometheus-server.js";

const TOKEN = "token-of-the-scrape-1";

/** A proxy that anybody here may use, with metrics for whoever has the token. */
function proxy(store: string): Promise<Served> {
  const words = ["proxy", "--listen", "127.0.0.1:0", "--store", store, "--", ...EVERYTHING];
  return started(words, { SLUICE_METRICS_TOKEN: TOKEN });
}

/** A client of a server at a URL. */
async function connected(url: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

/** A model that calls `echo`, with more than it may see of a result, and then answers. */
async function model(): Promise<string> {
  const answer = createScriptedModel(({ last, tools }) =>
    last.role === "tool"
      ? { text: "Done." }
      : {
          calls: [{ name: tools.find((name) => name.endsWith("echo")) ?? "", args: { message: "hello ".repeat(500) } }],
        },
  );
  const server = serveHttp({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => answer(request.url, { method: "POST", body: await request.text() }),
  });
  onTestFinished(() => void server.close());
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Makes every metric of the server rise. */
async function work(server: Served): Promise<void> {
  const session = await begin(server.url);
  // One more than there is room for.
  for (const words of [5000, 5001, 5002]) {
    await called(session, "all.echo", { message: "word ".repeat(words) });
  }
  const chat = { method: "POST", headers: { "content-type": "application/json" }, body: '{"query": "Say hello."}' };
  expect(await (await session.ask("chat", chat)).text()).toContain("Done.");
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const opened = await posted(session, "all", { id: 1, method: "initialize", params: hello });
  const own = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  await opened.text();
  await (await posted(session, "all", { id: 2, method: "tools/call", params: { name: "nobody" } }, own)).text();
  await session.ask("mcp/all", { method: "DELETE", headers: own });
}

const isThere = findOnPath("prometheus") !== undefined;
if (!isThere) console.warn("skipped: Prometheus is not installed (the package prometheus of Debian)");

test.skipIf(!isThere)(
  "Prometheus scrapes both, and every metric of the dashboard is there",
  async () => {
    await using room = await Room.open();
    const file = await room.write(
      "serve.json",
      JSON.stringify({
        sources: [{ name: "all", transport: "mcp", connection: EVERYTHING.join(" ") }],
        model: { url: await model(), name: "some-model" },
        artifacts: { guardrail: { max_observation_chars: 1000 } },
        retention: { max_artifacts_per_session: 2 },
      }),
    );
    await using server = await serve(["--config", file]);
    await using proxied = await proxy(room.path("store"));
    const hostOf = ({ url }: Served): string => new URL(url).host;
    await using prometheus = await TestPrometheus.started([
      { job: "serve", address: hostOf(server) },
      { job: "proxy", address: hostOf(proxied), token: TOKEN },
      { job: "refused", address: hostOf(proxied) },
    ]);
    await prometheus.found('up{job="serve"} == 1');
    await work(server);
    const client = await connected(proxied.url);
    await client.listTools();
    await client.callTool({ name: "get-tiny-image", arguments: {} });
    await client.close();

    const call = 'mcp_method_name="tools/call"';
    const [calls] = await prometheus.found(
      `mcp_server_operation_duration_seconds_count{job="proxy",${call},gen_ai_tool_name="get-tiny-image"}`,
    );
    expect(calls?.value).toBe(1);
    const [kept] = await prometheus.found('sluice_result_kept_out_bytes_total{job="proxy"} > 0');
    expect(kept?.value).toBeGreaterThan(3000);
    await prometheus.found('gen_ai_execute_tool_duration_seconds_count{job="serve",gen_ai_tool_name="echo"} >= 3');
    await prometheus.found('up{job="refused"} == 0');

    const dashboard = JSON.parse(
      await readFile(new URL("../../../examples/grafana-dashboard.json", import.meta.url), "utf8"),
    ) as { panels: { targets?: { expr: string }[] }[] };
    const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(20);
    for (const query of queries) {
      const [name = ""] = /[a-z0-9_]+(?=\{)/.exec(query) ?? [];
      await prometheus.found(name);
      // What Grafana fills in.
      await prometheus.query(query.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*"));
    }
    // And of every instrument there is a panel.
    for (const name of Object.keys(INSTRUMENTS)) {
      expect(queries.some((query) => query.includes(name.replaceAll(".", "_")))).toBe(true);
    }
  },
  120_000,
);
