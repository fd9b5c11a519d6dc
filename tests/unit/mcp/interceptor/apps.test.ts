/** MCP Apps: what clients that show apps get beside our tools, and that others get nothing. */
import { beforeEach, describe, expect, it } from "vitest";
import { toolDefinitions } from "../../../../web/src/mcp/artifact-tools.js";
import { image, namesOf, png, Talk, uriIn, type Message } from "./talk.js";

const URI = "ui://sluice/srv/artifact.html";
const TYPE = "text/html;profile=mcp-app";
const EXTENSIONS = { "io.modelcontextprotocol/ui": { mimeTypes: [TYPE] } };

/** How a client says what it shows, and what its requests carry. */
interface Dialect {
  readonly begins: (talk: Talk, capabilities: object) => Promise<unknown>;
  readonly params: (capabilities: object) => object;
  readonly isModern: boolean;
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  "2025-11-25": {
    begins: (talk, capabilities) => talk.ask("initialize", { capabilities, clientInfo: { name: "c" } }, {}),
    params: () => ({}),
    isModern: false,
  },
  "2026-07-28": {
    begins: async () => undefined,
    params: (capabilities) => ({
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
      },
    }),
    isModern: true,
  },
};

let talk: Talk;
beforeEach(() => {
  talk = new Talk();
});

const toolsOf = ({ result }: Message): readonly object[] => result?.["tools"] as object[];
const contentOf = ({ result }: Message): Readonly<Record<string, unknown>> =>
  ((result?.["contents"] ?? []) as readonly Record<string, unknown>[])[0] ?? {};
const withApps = (talking: Talk): Promise<unknown> =>
  talking.ask("initialize", { capabilities: { extensions: EXTENSIONS } }, {});

describe.each(Object.entries(DIALECTS))("in %s", (_, { begins, params, isModern }) => {
  const capabilities = { extensions: EXTENSIONS };

  it("a client that shows apps is told the page of our tools, and reads it", async () => {
    await begins(talk, capabilities);
    const listed = await talk.ask("tools/list", params(capabilities), { tools: [] });
    const meta = { ui: { resourceUri: URI }, "ui/resourceUri": URI };
    expect(toolsOf(listed)).toEqual(
      toolDefinitions("srv").map(({ _meta: own, ...tool }) => ({ ...tool, _meta: { ...own, ...meta } })),
    );

    const read = await talk.ask("resources/read", { uri: URI, ...params(capabilities) }, { contents: [] });
    expect(contentOf(read)).toMatchObject({
      uri: URI,
      mimeType: TYPE,
      _meta: { ui: { csp: {}, permissions: { clipboardWrite: {} }, prefersBorder: false } },
    });
    expect(contentOf(read)["text"]).toMatch(/^<!doctype html>[^]*<sluice-artifact-app>[^]*<\/html>\s*$/);
    expect(read.result?.["resultType"]).toBe(isModern ? "complete" : undefined);
  });

  it("parts of an artifact say what it is, without its scope", async () => {
    await begins(talk, capabilities);
    const uri = uriIn(await talk.call("shot", { content: [image()] }));
    const read = await talk.ask("resources/read", { uri: `${uri}?bytes=0-3`, ...params(capabilities) }, {});
    const { _meta, blob } = contentOf(read);
    expect(blob).toBe(Buffer.from("\x89PNG", "latin1").toString("base64"));
    expect(_meta).toEqual({
      "sluice/artifact": {
        id: uri.slice("artifact://".length),
        mime_type: "image/png",
        size_bytes: Buffer.from(png(5000), "base64").length,
        filename: "shot.png",
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        namespace: "srv",
        source: { tool: "shot", description: expect.stringContaining("PNG") },
      },
    });
  });

  it.each([{}, { extensions: {} }, { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } } }])(
    "a client that announces %j gets the same bytes as ever, and its reads go to the server",
    async (other) => {
      await begins(talk, other);
      const listed = await talk.ask("tools/list", params(other), { tools: [] });
      expect(JSON.stringify(toolsOf(listed))).toBe(JSON.stringify(toolDefinitions("srv")));
      const { forwarded } = await talk.say({
        jsonrpc: "2.0",
        id: 77,
        method: "resources/read",
        params: { uri: URI, ...params(other) },
      });
      expect(forwarded).toContain(URI);
      const uri = uriIn(await talk.call("shot", { content: [image()] }));
      const read = await talk.ask("resources/read", { uri: `${uri}?bytes=0-3`, ...params(other) }, {});
      expect(Object.keys(contentOf(read))).toEqual(["uri", "mimeType", "blob"]);
    },
  );
});

describe("what the server has itself", () => {
  it("stays: a tool of our name", async () => {
    await withApps(talk);
    const own = { name: "srv_artifact_read", inputSchema: { type: "object" }, description: "The server's." };
    const listed = await talk.list(own);
    expect(toolsOf(listed)[0]).toEqual(own);
    expect(namesOf(listed)).toEqual(["srv_artifact_read", "srv_artifact_read_2", "srv_artifact_edit"]);
  });

  it("stays: a page at our URI, of a tool", async () => {
    await withApps(talk);
    const own = { name: "show", _meta: { ui: { resourceUri: URI } } };
    const listed = await talk.list(own);
    expect(toolsOf(listed).slice(1)).toEqual(toolDefinitions("srv"));
    const read = await talk.ask("resources/read", { uri: URI }, { contents: [{ uri: URI, text: "the server's" }] });
    expect(contentOf(read)["text"]).toBe("the server's");
  });

  it("stays: a page at our URI, among its resources", async () => {
    await withApps(talk);
    await talk.ask("resources/list", {}, { resources: [{ uri: URI, name: "page" }] });
    const read = await talk.ask("resources/read", { uri: URI }, { contents: [{ uri: URI, text: "the server's" }] });
    expect(contentOf(read)["text"]).toBe("the server's");
  });

  it("is another page, which passes as it is", async () => {
    await withApps(talk);
    const uri = "ui://weather/page.html";
    const text = `<p>${"x".repeat(100_000)}</p>`;
    const read = await talk.ask("resources/read", { uri }, { contents: [{ uri, text }] });
    expect(contentOf(read)["text"]).toBe(text);
  });
});

it("pages of two namespaces have two URIs", async () => {
  const other = new Talk({ namespace: "web" });
  await withApps(other);
  expect(JSON.stringify(toolsOf(await other.list()))).toContain("ui://sluice/web/artifact.html");
});

it("an exchange of its own goes by what the client announced before", async () => {
  await withApps(talk);
  const exchange = (await talk.interceptor).forExchange();
  const request = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: URI } };
  const { answers, forward } = await exchange.fromClient(new TextEncoder().encode(JSON.stringify(request)));
  expect(forward).toBeUndefined();
  expect(contentOf(JSON.parse((await answers[0]) ?? "null") as Message)).toMatchObject({ uri: URI, mimeType: TYPE });
});
