import { beforeEach, describe, expect, it, test } from "vitest";
import {
  MemoryArtifactStore,
  type ArtifactInfo,
  type ArtifactWriter,
  type SluiceConfig,
  createSluice,
} from "../../../../web/src/index.js";
import { wrapClient } from "../../../../web/src/mcp/wrap-client.js";
import { image, type Message, png, Talk, textOf, wait, begin, namesOf, uriIn } from "./talk.js";

let talk: Talk;
beforeEach(() => {
  talk = new Talk();
});

describe("the result of a call", () => {
  it("has its bytes stored, and each thing that was stored is told of", async () => {
    const answer = await talk.call("shot", { content: [image()] });
    expect(textOf(answer)).toMatch(/^\[sluice\] PNG image.*srv_artifact_read/);
    expect(talk.events).toMatchObject([{ kind: "stored", tool: "shot", artifacts: [{ mime_type: "image/png" }] }]);
  });

  it("is answered however deep it nests", async () => {
    for (const levels of [100, 600, 5_000, 100_000]) {
      const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
      const id = `deep-${levels}`;
      await talk.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "deep" } });
      const [answer] = await talk.hear(
        `{"jsonrpc":"2.0","id":"${id}","result":{"content":[],"structuredContent":{"a":${deep}}}}`,
      );
      expect(answer?.includes("artifact://")).toBe(levels > 512);
      expect(JSON.parse(answer ?? "")).toMatchObject({ id, result: { content: expect.any(Array) } });
    }
  });

  it("of a tool for the host's app alone is left alone, whatever its size", async () => {
    await talk.list(
      { name: "app", _meta: { ui: { visibility: ["app"] } } },
      { name: "both", _meta: { ui: { visibility: ["model", "app"] } } },
    );
    expect(await talk.call("app", { content: [image(9_000_000)] })).toMatchObject({
      result: { content: [image(9_000_000)] },
    });
    expect(textOf(await talk.call("both", { content: [image()] }))).toContain("[sluice]");
  });

  it("whose id comes last is written for the tool whose it is, whatever else is under way", async () => {
    const config: SluiceConfig = {
      tool_fields: {
        export: [{ field_path: "note", content_type: "note", mime_type: "text/plain" }],
        other: [{ field_path: "title", content_type: "title", mime_type: "text/plain" }],
      },
    };
    for (const size of [1_000, 100_000, 9_000_000]) {
      talk = new Talk({ config });
      for (const [id, name] of ["export", "other"].entries()) {
        await talk.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name } });
      }
      const result = { content: [], structuredContent: { note: "a note", title: "a title", data: png(size) } };
      const [answer] = await talk.hear(`{"result":${JSON.stringify(result)},"jsonrpc":"2.0","id":0}`);
      const { structuredContent } = (JSON.parse(answer ?? "") as { result: typeof result }).result;
      expect(structuredContent).toMatchObject({
        note: expect.stringMatching(/^artifact:/) as unknown,
        title: "a title",
        data: expect.stringMatching(/^artifact:/) as unknown,
      });
      expect(talk.events).toMatchObject([{ kind: "stored", tool: "export" }]);
    }
  });

  it("whose id comes last has the places of the only tool that is called, in JSON that is stored as a whole", async () => {
    const field = { field_path: "note", content_type: "note", mime_type: "text/plain" };
    const config: SluiceConfig = { tool_fields: { export: [field] } };
    const value = { note: "a note", rows: Array.from({ length: 400_000 }, (_, id) => ({ id, name: "row" })) };
    const result = { content: [{ type: "text", text: JSON.stringify(value) }] };
    talk = new Talk({ config });
    for (const id of [0, 1]) {
      await talk.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "export" } });
    }
    const [answer] = await talk.hear(`{"result":${JSON.stringify(result)},"jsonrpc":"2.0","id":0}`);
    expect(answer).toMatch(/with files inside: note, 6 B \(artifact:/);
  });

  it("for the host's app alone is left alone also where its id comes last", async () => {
    for (const size of [1_000, 100_000, 9_000_000]) {
      talk = new Talk();
      await talk.list({ name: "app", _meta: { ui: { visibility: ["app"] } } }, { name: "both" });
      for (const [id, name] of ["both", "app"].entries()) {
        await talk.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name } });
      }
      const message = `{"result": ${JSON.stringify({ content: [image(size)], n: 1 })} ,"jsonrpc":"2.0","id":1}`;
      expect((await talk.hear(message))[0] === message).toBe(true);
      expect(talk.events).toEqual([]);
    }
  });

  it("of a task is gated where it comes: in tasks/result, in tasks/get, in a notification", async () => {
    const task = { taskId: "t1", status: "working" };
    await talk.call("slow", { task });
    expect(textOf(await talk.ask("tasks/result", { taskId: "t1" }, { content: [image()] }))).toContain("[sluice] PNG");
    const got = await talk.ask(
      "tasks/get",
      { taskId: "t1" },
      { ...task, status: "completed", result: { content: [image()] } },
    );
    expect(textOf({ result: got.result?.["result"] as Record<string, unknown> })).toContain("[sluice] PNG");
    const [told] = await talk.hear({
      jsonrpc: "2.0",
      method: "notifications/tasks",
      params: { ...task, result: { content: [image()] } },
    });
    expect(told).toContain("[sluice] PNG");
    expect(talk.events.map((event) => event.kind === "stored" && event.tool)).toEqual(["slow", "slow", undefined]);
  });

  it("is gated when the id comes last and other calls wait", async () => {
    for (const [id, method] of [
      [1, "tools/call"],
      [2, "resources/read"],
      [3, "prompts/get"],
    ] as const) {
      await talk.say({ jsonrpc: "2.0", id, method, params: { name: "a", uri: "file:///a" } });
    }
    const [answer] = await talk.hear(
      `{"result":{"content":[${JSON.stringify(image(200_000))}]},"jsonrpc":"2.0","id":1}`,
    );
    expect(answer).toContain("[sluice] PNG");
    const read = `{"result":{"contents":[{"uri":"file:///a","blob":"${png(200_000)}"}]},"jsonrpc":"2.0","id":2}`;
    expect(await talk.hear(read)).toEqual([read]);
  });

  it("that asks for input keeps its state to the letter", async () => {
    const requestState = png(30_000);
    const { result } = await talk.call("ask", {
      resultType: "input_required",
      requestState,
      inputRequests: { a: { method: "elicitation/create", params: { message: "x ".repeat(20_000) } } },
    });
    expect(result).toMatchObject({ requestState });
    expect(JSON.stringify(result?.["inputRequests"])).toContain("[sluice] text, 39.1 KB");
  });
});

describe("the id of a call", () => {
  const result = { content: [image()] };

  it("is not used up by a request of the server's that has the same", async () => {
    await wait(talk, 0);
    const ping = '{"jsonrpc":"2.0","id":0,"method":"ping"}';
    expect(await talk.hear(ping)).toEqual([ping]);
    expect((await talk.hear({ jsonrpc: "2.0", id: 0, result }))[0]).toContain("[sluice] PNG");
    expect(talk.events).toMatchObject([{ kind: "stored", tool: "shot" }]);
  });

  it("is not used up by a line of a logger", async () => {
    await wait(talk, 1);
    expect(await talk.hear('{"level":"info","id":1}')).toEqual([]);
    expect(await talk.hear('{"error":"cache miss"} retrying')).toEqual([]);
    expect((await talk.hear({ jsonrpc: "2.0", id: 1, result }))[0]).toContain("[sluice] PNG");
  });

  it.each(['"1"', '" 1"', "1.0", "null", "99", `"${"x".repeat(1000)}"`])(
    "may be told as %s: the result is gated",
    async (id) => {
      await wait(talk, 1);
      const text = `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`;
      expect((await talk.hear(text))[0]).toContain("[sluice] PNG");
    },
  );

  it("is no longer than a kibibyte: a message with more is none", async () => {
    await wait(talk, 1);
    const text = `{"jsonrpc":"2.0","id":"${"x".repeat(2000)}","result":${JSON.stringify(result)}}`;
    expect(await talk.hear(text)).toEqual([]);
    expect(talk.events).toMatchObject([{ kind: "failed" }]);
  });

  it("stands beside a result, whatever else stands there", async () => {
    await wait(talk, 1);
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: null, params: {}, result });
    expect((await talk.hear(text))[0]).toContain("[sluice] PNG");
  });
});

describe("what is no result of a call", () => {
  it.each([
    ["resources/read", { contents: [{ uri: "file:///a", blob: png(500_000) }] }],
    ["prompts/get", { messages: [{ role: "user", content: image(500_000) }] }],
    ["completion/complete", { completion: { values: [png(500)] } }],
    ["some/extension", { blob: png(500_000) }],
  ])("passes as it came: %s", async (method, result) => {
    await talk.say({ jsonrpc: "2.0", id: 1, method, params: {} });
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result });
    expect(await talk.hear(text)).toEqual([text]);
  });

  it("is reduced where it is too large to be received", async () => {
    const answer = await talk.ask(
      "resources/read",
      { uri: "file:///a" },
      { contents: [{ uri: "file:///a", blob: png(9_000_000) }] },
    );
    expect(JSON.stringify(answer).length).toBeLessThan(10_000);
    const app = await talk.ask(
      "resources/read",
      { uri: "ui://view" },
      { contents: [{ uri: "ui://view", blob: png(9_000_000) }] },
    );
    expect(JSON.stringify(app).length).toBeGreaterThan(12_000_000);
  });

  it("that a server asks for and that cannot be reduced is refused in the client's place", async () => {
    const heavy = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`m${at}`, "z ".repeat(500_000)]));
    expect(await talk.hear({ jsonrpc: "2.0", id: 7, method: "sampling/createMessage", ...heavy })).toEqual([]);
    expect(JSON.parse(talk.replies[0] ?? "")).toMatchObject({ id: 7, error: { code: -32603 } });
  });
});

describe("a result with a word that is no JSON", () => {
  it.each([
    ['{"mean":NaN}', "NaN", '"mean":'],
    ['{"low":[1,-Infinity]}', "-Infinity", '"low":[1,'],
    ['{"rows":[{"é":undefined}]}', "undefined", '"é":'],
    ['{"v":nan}', "nan", '"v":'],
  ])("names the word and its place in the message: %s", async (value, word, before) => {
    await talk.say({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name: "stats", arguments: {} } });
    const line = `{"jsonrpc":"2.0","id":5,"result":{"content":[],"structuredContent":${value}}}`;
    const [answer = ""] = await talk.hear(line);
    const { error } = JSON.parse(answer) as Message;
    const column = Array.from(line.slice(0, line.indexOf(before) + before.length)).length + 1;
    expect(error).toMatchObject({ code: -32603, data: { code: "E_JSON_SYNTAX" } });
    expect(error?.message).toMatch(new RegExp(`: ${word} is no JSON: .+ \\(line 1, column ${column}\\)$`));
  });
});

describe("a store that fails", () => {
  /** Fails at every writer from the third on. */
  class Failing extends MemoryArtifactStore {
    #writers = 0;

    override async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
      this.#writers += 1;
      if (this.#writers >= 3) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
      return super.openWriter(info);
    }
  }
  const three = { content: [image(3000), image(4000), image(5000)] };
  const failing = (config: SluiceConfig): Talk => new Talk({ store: new Failing({ retention: null }), config });

  it("costs what it refused, which says so, and the next call goes on", async () => {
    const broken = failing({});
    const text = textOf(await broken.call("shots", three));
    expect(text.match(/Stored, not shown/g)).toHaveLength(2);
    expect(text).toContain("E_STORE_FULL");
    expect(broken.events.map(({ kind }) => kind)).toContain("failed");
    expect(textOf(await broken.call("say", { content: [{ type: "text", text: "hello" }] }))).toBe("hello");
  });

  it("costs the answer where configured, which is an error that says so", async () => {
    const broken = failing({ interceptor: { on_store_failure: "error" } });
    const { error } = await broken.call("shots", three);
    expect(error).toMatchObject({ code: -32603, data: { code: "E_STORE_FULL" } });
    expect(error?.message).toMatch(/could not be passed on: The store is full/);
    expect(textOf(await broken.call("say", { content: [{ type: "text", text: "hello" }] }))).toBe("hello");
  });
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("a listener that throws costs no answer, and is told of the next event", async () => {
  const told: string[] = [];
  const server = {
    callTool: async (_params: object) => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
  };
  const client = wrapClient(server, {
    store: new MemoryArtifactStore(),
    onEvent: ({ kind }) => {
      told.push(kind);
      throw new Error("the listener's own");
    },
  });
  for (const name of ["one", "two"]) {
    expect(JSON.stringify(await client.callTool({ name }))).toContain("PNG image, 1 × 1");
  }
  expect(told).toEqual(["stored", "stored"]);
});

describe("links", () => {
  const link = {
    type: "resource_link",
    uri: "file:///a\u0000.pdf",
    name: "a\n# b",
    mimeType: "application/pdf",
    size: 1.0,
  };

  it("to what was stored are added for all, for those known to take them, or for none", async () => {
    const counts = [];
    for (const [links, client] of [
      ["always", "x"],
      ["auto", "mcp-inspector"],
      ["auto", "x"],
      ["never", "mcp-inspector"],
    ] as const) {
      talk = new Talk({ links });
      await begin(talk, client);
      const { result } = await talk.call("shot", { content: [image()], structuredContent: { again: png(5000) } });
      const blocks = result?.["content"] as { type: string; uri?: string }[];
      counts.push(
        blocks.filter(({ type, uri }) => type === "resource_link" && uri?.startsWith("artifact://srv_")).length,
      );
      const original = await (await createSluice({ store: talk.store })).restore(result);
      expect(original).toEqual({ content: [image()], structuredContent: { again: png(5000) } });
    }
    expect(counts).toEqual([1, 1, 0, 0]);
  });

  it("of the server's own are told in words to a client that would throw, and can be put back", async () => {
    talk = new Talk({ links: "auto" });
    await begin(talk, "@langchain/mcp-adapters");
    for (const result of [
      { content: [link] },
      { content: [link, image()] },
      { _meta: { a: 1 }, content: [link, link] },
    ]) {
      const answer = await talk.call("links", result);
      const blocks = answer.result?.["content"] as { type: string }[];
      expect(blocks.map(({ type }) => type)).not.toContain("resource_link");
      expect(textOf(answer)).toContain('without its content: "a # b", application/pdf: file:///a');
      expect(await (await createSluice({ store: talk.store })).restore(answer.result)).toEqual(result);
    }
    await begin(talk, "another");
    expect((await talk.call("links", { content: [link] })).result).toEqual({ content: [link] });
  });
});

describe("questions to the client in a result", () => {
  const file = Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(3000, 7)]).toString("base64");
  const elicitation = (message: string): object => ({ ask: { method: "elicitation/create", params: { message } } });
  const sampling = (...content: object[]): object => ({
    "a/b~c": { method: "sampling/createMessage", params: { messages: [{ role: "user", content }], maxTokens: 10 } },
  });

  it.each<[string, object]>([
    ["a file as text", elicitation(file)],
    ["a file in prose", elicitation(`See ${file} and ${file}.`)],
    ["a long text", elicitation("A line of prose. ".repeat(1000))],
    ["a long text with a file in it", elicitation(`${"A line of prose. ".repeat(1000)}${file}`)],
    ["JSON in a text", elicitation(JSON.stringify({ page: { file } }))],
    ["a file in a resource", sampling({ type: "resource", resource: { uri: "a:b", blob: file } })],
    ["a text among blocks", sampling({ type: "text", text: "Look." }, { type: "text", text: file })],
    [
      "bytes as numbers",
      { ask: { method: "elicitation/create", params: { message: "?", bytes: [...Buffer.from(file, "base64")] } } },
    ],
  ])("are put back with it: %s", async (_, inputRequests) => {
    for (const more of [{}, { _meta: { a: 1 } }, { content: [image()] }]) {
      const result = { resultType: "input_required", inputRequests, ...more };
      const answer = await talk.call("asks", result);
      expect(JSON.stringify(answer)).not.toContain(file.slice(0, 100));
      expect(JSON.stringify(answer)).toContain("artifact://srv_");
      expect(await (await createSluice({ store: talk.store })).restore(answer.result)).toEqual(result);
    }
  });
});

describe("the tool that reads", () => {
  it("is on the last page with the one that edits, and there from the first list", async () => {
    const first = await talk.ask(
      "tools/list",
      {},
      { tools: [{ name: "a", inputSchema: { type: "object" } }], nextCursor: "2" },
    );
    expect(first.result?.["tools"]).toHaveLength(1);
    const last = await talk.list({ name: "b" });
    expect(namesOf(last)).toEqual(["b", "srv_artifact_read", "srv_artifact_edit"]);
  });

  it("has a number where the server has a tool of that name, and sentences, calls and answers go by it", async () => {
    const own = { name: "srv_artifact_read" };
    expect(namesOf(await talk.list(own, { name: "srv_artifact_read_2" }))).toEqual([
      "srv_artifact_read",
      "srv_artifact_read_2",
      "srv_artifact_read_3",
      "srv_artifact_edit",
    ]);
    const { forwarded } = await talk.say({ id: 1, method: "tools/call", params: { ...own, arguments: {} } });
    expect(forwarded).toBeDefined();
    const stored = await talk.call("shot", { content: [{ type: "text", text: "word ".repeat(20_000) }] });
    expect(textOf(stored)).toContain(" srv_artifact_read_3 {");
    const answer = await talk.call("srv_artifact_read_3", {}, { uri: uriIn(stored), lines: "1-1" });
    expect(textOf(answer)).toContain("word word");
  });

  it("reads what came from this server, and nothing else in the store", async () => {
    const uri = uriIn(await talk.call("shot", { content: [image()] }));
    expect(textOf(await talk.call("srv_artifact_read", {}, { uri }))).toContain("PNG image");
    const other = await talk.store.putText("secret", { namespace: "other" });
    const theirs = await talk.store.putText("secret", { namespace: "srv", scope: { user_id: "them" } });
    for (const { id } of [other, theirs]) {
      const answer = await talk.call("srv_artifact_read", {}, { uri: `artifact://${id}` });
      expect(answer.result?.["isError"]).toBe(true);
      expect(textOf(answer)).toContain("There is no artifact");
    }
  });

  it("answers under the very id that was sent", async () => {
    const { answers } = await talk.say(
      '{"jsonrpc":"2.0","id":"a\\u0062\\"","method":"tools/call","params":{"name":"srv_artifact_read","arguments":{}}}',
    );
    expect(answers[0]?.id).toBe('ab"');
    const { answers: own } = await talk.say(
      '{"id":12345678901234567890,"method":"tools/call","params":{"name":"srv_artifact_read"}}',
    );
    expect(own).toHaveLength(1);
  });
});

describe("what a server says of itself", () => {
  const init = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };

  it.each(["initialize", "server/discover"])("gets a sentence more, and resources: %s", async (method) => {
    const { result } = await talk.ask(method, {}, { ...init, instructions: "Be kind." });
    expect(result?.["instructions"]).toMatch(
      /^Be kind\.\n\nLarge content .* srv_artifact_read, change with srv_artifact_edit, /,
    );
    expect(result?.["capabilities"]).toEqual({ tools: {}, resources: {} });
  });

  it.each(["opencode", "kilo"])(
    "gets no resources for %s, which would offer tools of its own for them",
    async (name) => {
      const { result } = await talk.ask("initialize", { clientInfo: { name, version: "9" } }, init);
      expect(result?.["capabilities"]).toEqual({ tools: {} });
      expect(result?.["instructions"]).toContain("artifact_read");
    },
  );

  it("stays as it is where there are no tools", async () => {
    const result = { ...init, capabilities: { prompts: {} } };
    expect((await talk.ask("initialize", {}, result)).result).toEqual(result);
  });

  it("about resources is completed by what was stored", async () => {
    await talk.ask("initialize", {}, init);
    const uri = uriIn(await talk.call("shot", { content: [image()] }));
    const { result } = await talk.ask("resources/list", {}, {});
    expect(result).toEqual({ resources: [expect.objectContaining({ uri })] });
    const { result: templates } = await talk.ask("resources/templates/list", {}, {});
    expect(templates).toEqual({
      resourceTemplates: [expect.objectContaining({ uriTemplate: expect.stringContaining("artifact://") as string })],
    });
  });

  it("about its own resources is kept, and nobody may keep the page for others", async () => {
    await talk.ask("initialize", {}, { ...init, capabilities: { tools: {}, resources: {} } });
    await talk.call("shot", { content: [image()] });
    const { result } = await talk.ask(
      "resources/list",
      {},
      { resources: [{ uri: "file:///a", name: "a" }], ttlMs: 1000, cacheScope: "public" },
    );
    expect(result).toMatchObject({ resources: [{ uri: "file:///a" }, {}], ttlMs: 0, cacheScope: "private" });
  });
});

describe("the tool that a sentence names", () => {
  const PICTURE = { content: [image()] };

  it.each([
    ["claude-code", "fix", "mcp__fix__my_srv_artifact_read"],
    ["gemini-cli-mcp-client", "fix", "mcp_fix_my_srv_artifact_read"],
    ["opencode", "fix", "fix_my_srv_artifact_read"],
    ["@cline/core", "fix", "fix__my_srv_artifact_read"],
    ["codex-mcp-client", "fix", "my_srv_artifact_read"],
    // It tells the name of the server in its own.
    ["qwen-cli-mcp-client-fix", undefined, "mcp__fix__my_srv_artifact_read"],
    // Hosts would write these otherwise, or nobody knows.
    ["claude-code", undefined, "my_srv_artifact_read"],
    ["claude-code", "my server", "my_srv_artifact_read"],
    ["claude-code", "s".repeat(50), "my_srv_artifact_read"],
    ["another", "fix", "my_srv_artifact_read"],
  ])("is what %s calls it, of a server %s: %s", async (client, serverName, tool) => {
    const named = new Talk({ namespace: "my-srv", ...(serverName !== undefined && { serverName }) });
    const clientInfo = { name: client, version: "9" };
    const introduced = await named.ask("initialize", { clientInfo }, { capabilities: { tools: {} } });
    expect(introduced.result?.["instructions"]).toContain(`with the tool ${tool}, change with`);
    const unlisted = ` ${tool}, a tool of this server that your user may have to allow, {"uri":"artifact://`;
    expect(textOf(await named.call("shot", PICTURE))).toContain(unlisted);
    expect(namesOf(await named.list({ name: "shot" }))).toContain("my_srv_artifact_read");
    expect(textOf(await named.call("shot", PICTURE))).toContain(` ${tool} {"uri":"artifact://`);
    const large = { content: [{ type: "text", text: "word ".repeat(200_000) }] };
    const [uri] = /artifact:\/\/my-srv_[0-9a-f]+/.exec(textOf(await named.call("book", large))) ?? [];
    const edit = { uri, old_string: "absent", new_string: "" };
    expect(textOf(await named.call("my_srv_artifact_edit", {}, edit))).toContain(`lines of ${tool},`);
    expect(JSON.stringify(await named.ask("resources/read", { uri }, {}))).toContain(` ${tool} {`);
  });
});

test("schemas of results are widened for clients that hold results against them, and for no others", async () => {
  const outputSchema = { type: "object", properties: { rows: { type: "array" } } };
  for (const [client, isWidened] of [
    ["opencode", true],
    ["another", true],
    ["claude-code", false],
    ["codex-mcp-client", false],
  ] as const) {
    const listing = new Talk();
    await begin(listing, client);
    const [tool] = ((await listing.list({ name: "rows", outputSchema })).result?.["tools"] ?? []) as Record<
      string,
      unknown
    >[];
    expect(JSON.stringify(tool?.["outputSchema"]) !== JSON.stringify(outputSchema)).toBe(isWidened);
  }
});
