/** A server over HTTP that is started anew at its address: what it refuses for a session of before is made again in a new one. */
import { EventEmitter, once } from "node:events";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { STORE_SILENCE } from "../../../web/src/core/store-access.js";
import { createSluice } from "../../../web/src/index.js";
import { gateFetch } from "../../../web/src/mcp.js";
import { type ExternalToolConfig, ToolNode } from "../../../web/src/tools-node.js";
import { type Call, faulty } from "../core/faulty-store.js";
import { called, served, visitor } from "../server/sources/serving.js";
import { answer, type Came, isCall, LEGACY_INIT, listening, type Listening } from "./sources/mcp/http-server.js";
import { ReferenceServer } from "./sources/mcp/reference-server.js";
import { serverScript } from "./sources/mcp/server-script.js";

describe("a server that was restarted", () => {
  /** Attempts are no part of it. */
  const ONCE = { max_attempts: 1 };

  async function connected(connection: string, more: Partial<ExternalToolConfig> = {}): Promise<ToolNode> {
    const node = new ToolNode(
      { name: "all", transport: "mcp", connection, retry_policy: ONCE, ...more },
      { store: new MemoryArtifactStore() },
    );
    onTestFinished(() => node.close());
    await node.connect();
    return node;
  }

  describe("the reference server, which answers 400 for a session that it does not know", () => {
    test("through a ToolNode: a call is made again, and so is what reads resources", async () => {
      await using server = await ReferenceServer.open();
      const node = await connected(server.url);
      expect((await node.call("echo", { message: "before" })).text).toContain("before");
      await server.restart();
      expect((await node.call("echo", { message: "after" })).text).toContain("after");
      await server.restart();
      expect((await node.listResources()).items.length).toBeGreaterThan(0);
    });

    test("calls that come at once are each made again, over one new session", async () => {
      await using server = await ReferenceServer.open();
      const node = await connected(server.url);
      await server.restart();
      const texts = await Promise.all(
        Array.from({ length: 5 }, async (_, at) => (await node.call("echo", { message: `call ${at}` })).text),
      );
      expect(texts.map((text) => /call \d/.exec(text)?.[0])).toEqual([0, 1, 2, 3, 4].map((at) => `call ${at}`));
    });

    test("as a source of a server", async () => {
      await using server = await ReferenceServer.open();
      const serving = served({
        sources: [{ name: "all", transport: "mcp", connection: server.url, retry_policy: ONCE }],
      });
      const ada = await visitor(serving);
      const echoed = async (message: string): Promise<unknown> => (await called(ada, "all.echo", { message })).rest();
      expect(JSON.stringify(await echoed("before"))).toContain("before");
      await server.restart();
      expect(JSON.stringify(await echoed("after"))).toContain("after");
    });
  });

  /** A server of sessions, which may forget them. */
  interface Sessions {
    readonly server: Listening;
    /** Calls that were done, by the session they came in. */
    readonly done: string[];
    readonly forget: () => void;
  }

  /** What `refuse` answers for a session that is not known; calls of the tool `wait` are answered when `waiting` is. */
  async function sessions(
    refuse: (came: Came) => void,
    {
      waiting,
      known = (id, live) => id === live,
    }: {
      readonly waiting?: Promise<void>;
      readonly known?: (id: string | undefined, live: string, came: Came) => boolean;
    } = {},
  ): Promise<Sessions> {
    let number = 0;
    let live = "";
    const done: string[] = [];
    const server = await listening("legacy", async (came) => {
      const { request, response, rpc } = came;
      const id = request.headers["mcp-session-id"] as string | undefined;
      if (rpc?.method === "initialize") {
        live = `session-${(number += 1)}`;
        response.setHeader("mcp-session-id", live);
        answer(came, LEGACY_INIT);
        return true;
      }
      if (rpc?.method === "server/discover") return false;
      if (!known(id, live, came)) {
        refuse(came);
        return true;
      }
      if (rpc?.method === "tools/list") {
        const tools = ["hello", "wait"].map((name) => ({ name, inputSchema: { type: "object" } }));
        answer(came, { tools });
        return true;
      }
      if (!isCall(came)) return false;
      if (rpc?.params?.name === "wait") await waiting;
      done.push(`${id}`);
      return false;
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    return { server, done, forget: () => (live = "none") };
  }

  const refusing =
    (status: number, body: string | object) =>
    ({ response }: Came): void => {
      const isText = typeof body === "string";
      response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json" });
      response.end(isText ? body : JSON.stringify(body));
    };

  const rpcError = (code: number, message: string, id: unknown = null): object => ({
    jsonrpc: "2.0",
    id,
    error: { code, message },
  });

  describe("a session that is not known is said in many ways", () => {
    test.each([
      [404, ""],
      [404, rpcError(-32_001, "Session not found")],
      [404, rpcError(-32_600, "Session has been terminated", "server-error")],
      [400, rpcError(-32_000, "Bad Request: No valid session ID provided")],
      [400, rpcError(-32_000, "Bad Request: Server not initialized")],
      [400, rpcError(-32_600, "Invalid Mcp-Session-Id header")],
      [400, "Invalid or missing session ID"],
      [400, { error: "unknown sessionId" }],
    ])("%i %j", async (status, body) => {
      const { server, done, forget } = await sessions(refusing(status, body));
      const node = await connected(server.url);
      forget();
      expect((await node.call("hello")).value).toBe("hello");
      expect(done).toEqual(["session-2"]);
    });

    test.each([
      [400, rpcError(-32_602, "session_id is not a uuid", 3), "E_TOOL_CLIENT"],
      [400, rpcError(-32_600, "the city is not known"), "E_TOOL_CLIENT"],
      [400, "no such thing", "E_TOOL_CLIENT"],
      [404, rpcError(-32_601, "Method not found", 3), "E_TOOL_CLIENT"],
      [409, "Session expired", "E_TOOL_CLIENT"],
      [403, "Session expired", "E_TOOL_AUTH"],
    ])("other refusals stay what they are: %i %j", async (status, body, code) => {
      const { server, forget } = await sessions(refusing(status, body));
      const node = await connected(server.url);
      forget();
      await expect(node.call("hello")).rejects.toMatchObject({ code, status });
      expect(server.came.filter(({ rpc }) => rpc?.method === "initialize")).toHaveLength(1);
      expect(server.came.filter(isCall)).toHaveLength(1);
    });
  });

  test("a server that forgets every session is asked in one more, and no further", async () => {
    let isForgetful = false;
    const known = (id: string | undefined, live: string, came: Came): boolean =>
      id === live && !(isForgetful && isCall(came));
    const { server, done } = await sessions(refusing(400, rpcError(-32_000, "No valid session")), { known });
    const node = await connected(server.url, { retry_policy: { max_attempts: 3, wait_exponential_min_s: 0.01 } });
    isForgetful = true;
    const failed = await node.call("hello").catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true, isRetryable: false });
    expect(server.came.filter(({ rpc }) => rpc?.method === "initialize")).toHaveLength(2);
    expect(done).toEqual([]);
  });

  test("a call that the session before has taken is waited for, and not made again", async () => {
    const asked = new EventEmitter();
    const waiting = once(asked, "answer").then(() => undefined);
    const { server, done, forget } = await sessions(refusing(400, "Invalid session"), { waiting });
    const node = await connected(server.url);
    const taken = node.call("wait");
    while (!server.came.some(isCall)) await new Promise((resolve) => setTimeout(resolve, 5));
    forget();
    expect((await node.call("hello")).value).toBe("hello");
    asked.emit("answer");
    expect((await taken).value).toBe("hello");
    expect(done.toSorted()).toEqual(["session-1", "session-2"]);
  });

  test("a refusal whose body never ends is read for a while, and is the refusal that it is", async () => {
    const { server, forget } = await sessions(({ response }) => void response.writeHead(400).write("Bad Request"));
    const node = await connected(server.url, { timeout_s: 10 });
    forget();
    await expect(node.call("hello")).rejects.toMatchObject({ code: "E_TOOL_CLIENT", status: 400 });
  });
});

/** A store that hangs while something is read from it: whoever reads is answered in time, whichever way they came. */
describe("a store that hangs", () => {
  const usual = { ...STORE_SILENCE };
  beforeEach(() => void Object.assign(STORE_SILENCE, { bytes: 200, look: 100 }));
  afterEach(() => void Object.assign(STORE_SILENCE, usual));

  /** A store that hangs at some calls from `hang` on. */
  function hangingStore(calls: readonly Call[]) {
    const inner = new MemoryArtifactStore();
    let hangs = false;
    const { store } = faulty(inner, (call) =>
      hangs && calls.includes(call) ? new Promise(() => undefined) : undefined,
    );
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
    expect(await response.text()).toContain("the store did not answer in time");
  });
});
