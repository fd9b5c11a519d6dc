import { beforeEach, describe, expect, it } from "vitest";
import { createSluice } from "../../../../web/src/index.js";
import { begin, image, namesOf, png, Talk, textOf, uriIn } from "./talk.js";

let talk: Talk;
beforeEach(() => {
  talk = new Talk();
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
