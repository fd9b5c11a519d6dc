/** A source behind `mcp/{source}`, as the official clients of both eras see it: what MCP has is there, and answers by MCP's rules. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { listen } from "../../../../web/src/serve.js";
import { FIXTURE, program, served } from "../sources/serving.js";
import { Visitor } from "../visitor.js";
import { mcpClient } from "../ways-in/mcp-client.js";

const ERAS = ["legacy", { pin: "2026-07-28" }] as const;

type ClientSettings = NonNullable<ConstructorParameters<typeof Client>[1]>;

interface Connected {
  readonly client: Client;
  readonly visitor: Visitor;
}

/** A client at the source `lab` of a server that listens. */
async function connected(
  mode: (typeof ERAS)[number],
  capabilities: NonNullable<ClientSettings["capabilities"]> = {},
  connection = FIXTURE,
): Promise<Connected> {
  const { server } = served({ sources: [program("lab", connection)] });
  const listening = await listen(server, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => listening[Symbol.asyncDispose]());
  const visitor = await Visitor.at(listening.port, { user: "ada" });
  const headers = { authorization: `Bearer ${visitor.token}` };
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${listening.port}/mcp/lab`), {
    requestInit: { headers },
  });
  return { client: await ready(client, transport), visitor };
}

async function ready(client: Client, transport: StreamableHTTPClientTransport): Promise<Client> {
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

describe.each(ERAS.map((mode) => [typeof mode === "string" ? "2025-11-25" : mode.pin, mode] as const))(
  "%s",
  (_, mode) => {
    test("the server is the source's own, with the tools that read what is stored", async () => {
      const { client } = await connected(mode);
      expect(client.getServerVersion()).toMatchObject({ name: "sluice-fixture", title: "Fixture" });
      expect(client.getInstructions()).toMatch(/^Call the tools;[^]*lab_artifact_read/);
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["test_simple_text", "lab_artifact_read", "lab_artifact_edit"]));
      // What ToolNode makes of resources is for planners: MCP has requests for these.
      expect(names.filter((name) => /resources_/.test(name))).toEqual([]);
    });

    test("a result is reduced, and read back", async () => {
      const { client } = await connected(mode);
      await client.listTools();
      const { content } = await client.callTool({ name: "image", arguments: { kind: "png", bytes: 50_000 } });
      const [, uri = ""] = /(artifact:\/\/lab_[0-9a-f]{12})/.exec(JSON.stringify(content)) ?? [];
      const info = await client.callTool({ name: "lab_artifact_read", arguments: { uri } });
      expect(JSON.stringify(info.content)).toContain("50,000");
      expect((await client.listResources()).resources.map((each) => each.uri)).toContain(uri);
      const { contents } = await client.readResource({ uri });
      expect(contents).toHaveLength(1);
    });

    test("prompts, resources, templates and completions are the source's, with all that they say", async () => {
      const { client } = await connected(mode);
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toContain("test_prompt_with_image");
      const { messages } = await client.getPrompt({ name: "test_prompt_with_image" });
      expect(messages[0]?.content).toMatchObject({ type: "image", mimeType: "image/png" });
      const { resources } = await client.listResources();
      expect(resources).toContainEqual(expect.objectContaining({ uri: "ui://fixture/view", name: "view" }));
      expect((await client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(1);
      const { contents } = await client.readResource({ uri: "test://static-text" });
      expect(contents).toMatchObject([{ text: "This is the content of the static text resource." }]);
      const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" } as const;
      const { completion } = await client.complete({ ref, argument: { name: "arg1", value: "par" } });
      expect(completion.values).toEqual(["paris", "park", "party"]);
    });

    test("what the source refuses has the source's code, and its reason", async () => {
      const { client } = await connected(mode);
      await expect(client.readResource({ uri: "test://nothing" })).rejects.toThrow(
        /no resource|not found|refuses|does not/i,
      );
      await expect(client.getPrompt({ name: "nothing" })).rejects.toMatchObject({ code: -32602 });
      await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toMatchObject({ code: -32602 });
      // A model reads why a tool failed.
      const failed = await client.callTool({ name: "protocol_error", arguments: {} });
      expect(failed.isError).toBe(true);
    });

    test("a person is asked in the middle of a call, and the call goes on with the answer", async () => {
      const { client } = await connected(mode, { elicitation: { form: {} } });
      const asked = vi.fn<() => Promise<{ action: "accept"; content: { name: string } }>>(async () => ({
        action: "accept" as const,
        content: { name: "Ada" },
      }));
      client.setRequestHandler("elicitation/create", asked);
      const { content } = await client.callTool({ name: "test_input_required_result_elicitation", arguments: {} });
      expect(JSON.stringify(content)).toContain("Ada");
      expect(asked).toHaveBeenCalledOnce();
    });

    test("a question that the client does not show is declined", async () => {
      const { client } = await connected(mode);
      const { content } = await client.callTool({ name: "test_input_required_result_elicitation", arguments: {} });
      expect(JSON.stringify(content)).not.toContain("Ada");
    });

    test("progress arrives before the answer", async () => {
      const { client } = await connected(mode);
      const told: number[] = [];
      const onprogress = ({ progress }: { readonly progress: number }): void => void told.push(progress);
      await client.callTool({ name: "progress", arguments: { steps: 3 } }, { onprogress });
      expect(told).toEqual([1, 2, 3]);
    });

    test("a call that its client cancels ends at the source", async () => {
      const { client } = await connected(mode);
      const cancelled = new AbortController();
      const calling = client.callTool({ name: "slow", arguments: {} }, { signal: cancelled.signal });
      setTimeout(() => cancelled.abort(new Error("enough")), 200);
      await expect(calling).rejects.toThrow("enough");
      // The source answers others.
      expect((await client.callTool({ name: "test_simple_text", arguments: {} })).isError).not.toBe(true);
    });
  },
);

test("changes of resources are heard by who subscribed, in both eras", async () => {
  const uri = "test://watched-resource";
  const legacy = await connected("legacy");
  const heard: string[] = [];
  legacy.client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
  await legacy.client.subscribeResource({ uri });
  await legacy.client.callTool({ name: "touch", arguments: { uri } });
  await vi.waitFor(() => expect(heard).toEqual([uri]), { timeout: 5000 });
  await legacy.client.unsubscribeResource({ uri });

  const modern = await connected({ pin: "2026-07-28" });
  modern.client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
  const subscription = await modern.client.listen({ resourceSubscriptions: [uri] });
  expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri] });
  await modern.client.callTool({ name: "touch", arguments: { uri } });
  await vi.waitFor(() => expect(heard).toEqual([uri, uri]), { timeout: 5000 });
  await subscription.close();
});

test("a source of any transport is offered: commands and HTTP APIs answer in the form of MCP", async () => {
  const words = `"${process.execPath}" -e "console.log(JSON.stringify({ sum: 3 }))"`;
  const { server } = served({ sources: [{ name: "sum", transport: "cli", connection: words }] });
  const client = await mcpClient(await Visitor.of(server, { user: "ada" }), "mcp", "2025");
  const [listed] = await client.messages("sum", "tools/list");
  const { tools } = (listed ?? {})["result"] as {
    readonly tools: readonly { readonly name: string; readonly inputSchema: object }[];
  };
  const [first] = tools;
  expect(first?.inputSchema).toMatchObject({ type: "object" });
  const [answer] = await client.messages("sum", "tools/call", { name: first?.name ?? "", arguments: {} });
  expect(answer?.["result"]).toMatchObject({ structuredContent: { sum: 3 }, content: [{ type: "text" }] });
  // What it has not, it does not claim to have.
  const [refused] = await client.messages("sum", "prompts/list");
  expect(refused).toMatchObject({ error: { code: -32601 } });
});

test("long numbers and ids come back digit by digit", async () => {
  const { server } = served({ sources: [program("lab")] });
  const by = await Visitor.of(server, { user: "ada" });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const body =
    '{"jsonrpc":"2.0","id":12345678901234567890,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}';
  expect(await (await by.ask("/mcp/lab", { method: "POST", headers, body })).text()).toContain(
    '"id":12345678901234567890',
  );
});

test("an MCP session ends with the session that it belongs to, and no other session finds it", async () => {
  const { server } = served({ sources: [program("lab")] });
  const [ada, bob] = [await Visitor.of(server, { user: "ada" }), await Visitor.of(server, { user: "bob" })];
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const send = (by: Visitor, message: object, more: Record<string, string> = {}): Promise<Response> =>
    by.ask("/mcp/lab", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const begun = await send(ada, { id: 1, method: "initialize", params });
  await begun.text();
  const own = { "mcp-session-id": begun.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
  const pong = await send(ada, { id: 2, method: "ping" }, own);
  expect([pong.status, await pong.text()]).toEqual([200, expect.stringContaining('"result":{}')]);
  const told = async (by: Visitor, session: string): Promise<readonly [number, string]> => {
    const answer = await send(by, { id: 2, method: "ping" }, { ...own, "mcp-session-id": session });
    return [answer.status, await answer.text()];
  };
  const unknown = await told(bob, crypto.randomUUID());
  expect([unknown[0], await told(bob, own["mcp-session-id"])]).toEqual([404, unknown]);
  await ada.end();
  expect((await send(ada, { id: 3, method: "ping" }, own)).status).toBe(401);
});

test("a client has at most 64 requests under way", async () => {
  const { server } = served({ sources: [program("lab", FIXTURE)], limits: { concurrentRequests: 100 } });
  const by = await Visitor.of(server, { user: "ada" });
  const client = await mcpClient(by, "mcp", "2025");
  await client.ask("lab", "ping");
  for (let at = 0; at < 64; at += 1) void client.call("lab", "slow", { seconds: 60 }).catch(() => "");
  await vi.waitFor(async () =>
    expect(await client.ask("lab", "ping")).toContain("64 requests of this client are under way"),
  );
});
