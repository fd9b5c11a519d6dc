import { beforeEach, describe, expect, it } from "vitest";
import { openDoor, type DoorOptions } from "../../../web/src/mcp/open-door.js";
import type { Door, DoorEvent } from "../../../web/src/mcp/door.js";
import {
  createSluice,
  MemoryArtifactStore,
  type ArtifactInfo,
  type ArtifactWriter,
  type SluiceConfig,
} from "../../../web/src/index.js";
import { MAX_MESSAGE } from "../../../web/src/transports/limits.js";
import { MessageMembers } from "../../../web/src/transports/members.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A message as tests read it. */
interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A client and a server on both sides of a door. */
class Talk {
  readonly events: DoorEvent[] = [];
  readonly store: MemoryArtifactStore;
  readonly replies: string[] = [];
  stray = "";
  #door: Promise<Door>;
  #lastId = 0;

  constructor(options: DoorOptions = {}) {
    this.store = (options.store as MemoryArtifactStore | undefined) ?? new MemoryArtifactStore({ retention: null });
    const onEvent = (event: DoorEvent): void => void this.events.push(event);
    this.#door = openDoor({ namespace: "srv", onEvent, ...options, store: this.store });
  }

  get door(): Promise<Door> {
    return this.#door;
  }

  /** Sends what a client says: what the server gets, and what the client is answered at once. */
  async say(message: object | string): Promise<{ forwarded: string | undefined; answers: Message[] }> {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    const { forward, answers } = await (await this.#door).fromClient(encoder.encode(text));
    return {
      forwarded: forward && decoder.decode(forward),
      answers: (await Promise.all(answers)).map((answer) => JSON.parse(answer) as Message),
    };
  }

  /** Sends what a server says: what the client gets. */
  async hear(message: object | string): Promise<string[]> {
    const lines: string[] = [];
    let line = "";
    const incoming = (await this.#door).fromServer(
      {
        forward: async (bytes) => void (line += decoder.decode(bytes)),
        complete: async () => {
          lines.push(line);
          line = "";
        },
        stray: async (bytes) => void (this.stray += decoder.decode(bytes)),
      },
      (text) => void this.replies.push(text),
    );
    const text = typeof message === "string" ? message : JSON.stringify(message);
    await incoming.write(encoder.encode(text));
    await incoming.end();
    return lines;
  }

  /** A request, and the answer to it. */
  async ask(method: string, params: object, result: object): Promise<Message> {
    const id = (this.#lastId += 1);
    const { answers } = await this.say({ jsonrpc: "2.0", id, method, params });
    if (answers[0] !== undefined) return answers[0];
    const [answer] = await this.hear({ jsonrpc: "2.0", id, result });
    return JSON.parse(answer ?? "null") as Message;
  }

  call(name: string, result: object, args: object = {}): Promise<Message> {
    return this.ask("tools/call", { name, arguments: args }, result);
  }

  list(...tools: object[]): Promise<Message> {
    return this.ask("tools/list", {}, { tools: tools.map((tool) => ({ inputSchema: { type: "object" }, ...tool })) });
  }
}

const png = (size: number): string =>
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(size, size % 251)]).toString("base64");
const image = (size = 5000): object => ({ type: "image", mimeType: "image/png", data: png(size) });
const textOf = ({ result }: Message): string =>
  ((result?.["content"] ?? []) as { text?: string }[]).map(({ text }) => text ?? "").join("\n");
const uriIn = (message: Message): string => /artifact:\/\/srv_[0-9a-f]+/.exec(textOf(message))?.[0] ?? "none";

/** The members of a message that no server would take. */
function large(head: string): MessageMembers {
  const members = new MessageMembers();
  members.push(encoder.encode(`{${head},"params":"${"x".repeat(MAX_MESSAGE)}"}`));
  return members;
}

const namesOf = ({ result }: Message): string[] =>
  ((result?.["tools"] ?? []) as { name: string }[]).map(({ name }) => name);

let talk: Talk;

/** A client of this name connects. */
function begin(name: string): Promise<Message> {
  return talk.ask("initialize", { clientInfo: { name, version: "1" } }, {});
}

/** A call that waits for its answer. */
function wait(id: unknown): Promise<unknown> {
  return talk.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "shot" } });
}
beforeEach(() => {
  talk = new Talk();
});

describe("the result of a call", () => {
  it("has its bytes stored, and each thing that was stored is told of", async () => {
    const answer = await talk.call("shot", { content: [image()] });
    expect(textOf(answer)).toMatch(/^\[sluice\] PNG image.*srv_artifact_read/);
    expect(talk.events).toMatchObject([{ kind: "stored", tool: "shot", artifacts: [{ mime_type: "image/png" }] }]);
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
    expect(talk.events).toEqual([]);
  });
});

describe("the id of a call", () => {
  const result = { content: [image()] };

  it("is not used up by a request of the server's that has the same", async () => {
    await wait(0);
    const ping = '{"jsonrpc":"2.0","id":0,"method":"ping"}';
    expect(await talk.hear(ping)).toEqual([ping]);
    expect((await talk.hear({ jsonrpc: "2.0", id: 0, result }))[0]).toContain("[sluice] PNG");
    expect(talk.events).toMatchObject([{ kind: "stored", tool: "shot" }]);
  });

  it("is not used up by a line of a logger", async () => {
    await wait(1);
    expect(await talk.hear('{"level":"info","id":1}')).toEqual([]);
    expect(await talk.hear('{"error":"cache miss"} retrying')).toEqual([]);
    expect((await talk.hear({ jsonrpc: "2.0", id: 1, result }))[0]).toContain("[sluice] PNG");
  });

  it.each(['"1"', '" 1"', "1.0", "null", "99", `"${"x".repeat(2000)}"`])(
    "may be told as %s: the result is gated",
    async (id) => {
      await wait(1);
      const text = `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`;
      expect((await talk.hear(text))[0]).toContain("[sluice] PNG");
    },
  );

  it("stands beside a result, whatever else stands there", async () => {
    await wait(1);
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
    expect(text.match(/stored, not shown/g)).toHaveLength(2);
    expect(text).toContain("E_STORE_FULL");
    expect(broken.events.map(({ kind }) => kind)).toContain("failed");
    expect(textOf(await broken.call("say", { content: [{ type: "text", text: "hello" }] }))).toBe("hello");
  });

  it("costs the answer where configured, which is an error that says so", async () => {
    const broken = failing({ door: { on_store_failure: "error" } });
    const { error } = await broken.call("shots", three);
    expect(error).toMatchObject({ code: -32603, data: { code: "E_STORE_FULL" } });
    expect(error?.message).toMatch(/could not be passed on: The store has no room left/);
    expect(textOf(await broken.call("say", { content: [{ type: "text", text: "hello" }] }))).toBe("hello");
  });
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
      await begin(client);
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
    await begin("@langchain/mcp-adapters");
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
    await begin("another");
    expect((await talk.call("links", { content: [link] })).result).toEqual({ content: [link] });
  });
});

describe("the tool that reads", () => {
  it("is the last one on the last page, and there from the first list", async () => {
    const first = await talk.ask(
      "tools/list",
      {},
      { tools: [{ name: "a", inputSchema: { type: "object" } }], nextCursor: "2" },
    );
    expect(first.result?.["tools"]).toHaveLength(1);
    const last = await talk.list({ name: "b" });
    expect(namesOf(last)).toEqual(["b", "srv_artifact_read"]);
  });

  it("gives way to a server's own of that name", async () => {
    const { result } = await talk.list({ name: "srv_artifact_read" });
    expect(result?.["tools"]).toHaveLength(1);
    const { forwarded } = await talk.say({
      id: 1,
      method: "tools/call",
      params: { name: "srv_artifact_read", arguments: {} },
    });
    expect(forwarded).toBeDefined();
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
    expect(result?.["instructions"]).toMatch(/^Be kind\.\n\nLarge content .* srv_artifact_read /);
    expect(result?.["capabilities"]).toEqual({ tools: {}, resources: {} });
  });

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

describe("arguments", () => {
  it("take an artifact in the form that the tool wants", async () => {
    await talk.list({
      name: "upload",
      inputSchema: { type: "object", properties: { file: { type: "string", contentEncoding: "base64" } } },
    });
    const uri = uriIn(await talk.call("shot", { content: [image()] }));
    const { forwarded } = await talk.say({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { name: "upload", arguments: { file: uri, n: 1 } },
    });
    expect(JSON.parse(forwarded ?? "")).toMatchObject({ params: { arguments: { file: png(5000), n: 1 } } });
    expect(talk.events.at(-1)).toMatchObject({ kind: "expanded", tool: "upload", path: "file", form: "base64" });
  });

  it("that nobody knows the form of are asked for, and the call is not made", async () => {
    const uri = uriIn(await talk.call("shot", { content: [image()] }));
    const { forwarded, answers } = await talk.say({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { name: "upload", arguments: { file: uri } },
    });
    expect(forwarded).toBeUndefined();
    expect(textOf(answers[0] ?? {})).toContain("?as=");
  });

  it("without an artifact of ours go on to the letter", async () => {
    const text =
      '{"jsonrpc":"2.0", "id":9,"method":"tools/call","params":{"name":"u","arguments":{"a":"artifact://theirs","n":1.10}}}';
    expect((await talk.say(text)).forwarded).toBe(text);
  });
});

describe("a client", () => {
  it("may send batches, of which the door answers its part", async () => {
    const read = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "srv_artifact_read", arguments: {} } };
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const { forwarded, answers } = await talk.say([ping, read]);
    expect(JSON.parse(forwarded ?? "")).toEqual([ping]);
    expect(answers.map(({ id }) => id)).toEqual([2]);
    const text = '[ {"id":3,"method":"ping"} , {"method":"x"} ]';
    expect((await talk.say(text)).forwarded).toBe(text);
  });

  it("that sends more than a server takes is told, and so is a server that waits for it", async () => {
    const door = await talk.door;
    expect(JSON.parse(door.refuse(large('"id":1,"method":"tools/call"')).toClient ?? "")).toMatchObject({
      id: 1,
      error: { code: -32600 },
    });
    expect(JSON.parse(door.refuse(large('"id":"q","result":1')).toServer ?? "")).toMatchObject({ id: "q" });
    expect(door.refuse(large('"method":"notifications/x"'))).toEqual({});
  });

  it("is answered when the server is gone, but not where it said that it no longer waits", async () => {
    for (const id of [1, 2]) await talk.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "a" } });
    await talk.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    const answers = (await talk.door).abandon("The server ended.");
    expect(answers.map((answer) => JSON.parse(answer) as Message)).toEqual([
      { jsonrpc: "2.0", id: 2, error: { code: -32000, message: "The server ended." } },
    ]);
  });
});
