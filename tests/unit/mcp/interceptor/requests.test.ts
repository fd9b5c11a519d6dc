import { beforeEach, describe, expect, it } from "vitest";
import { image, large, png, Talk, textOf, uriIn, type Message } from "./talk.js";

let talk: Talk;
beforeEach(() => {
  talk = new Talk();
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

  it("with an artifact of another server are made where a rule says so, and nowhere else", async () => {
    const { id } = await talk.store.putText("a page", { namespace: "browser", mime_type: "text/plain" });
    const share = [{ from: "browser", to: "srv.upload" }];
    const sharing = new Talk({ store: talk.store, config: { interceptor: { share } } });
    const call = (name: string): object => ({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { name, arguments: { file: `artifact://${id}?as=text` } },
    });
    expect((await sharing.say(call("upload"))).forwarded).toContain('"file":"a page"');
    for (const [interceptor, name] of [
      [sharing, "download"],
      [talk, "upload"],
    ] as const) {
      const { forwarded, answers } = await interceptor.say(call(name));
      expect(forwarded).toBeUndefined();
      expect(textOf(answers[0] ?? {})).toContain("no such artifact is known here");
    }
    const read = await sharing.say({
      jsonrpc: "2.0",
      id: 9,
      method: "tools/call",
      params: { name: "srv_artifact_read", arguments: { uri: id } },
    });
    expect(textOf(read.answers[0] ?? {})).toContain("There is no artifact");
  });

  it("without an artifact of ours go on to the letter", async () => {
    const text =
      '{"jsonrpc":"2.0", "id":9,"method":"tools/call","params":{"name":"u","arguments":{"a":"artifact://theirs","n":1.10}}}';
    expect((await talk.say(text)).forwarded).toBe(text);
  });
});

describe("a client", () => {
  it("may send batches, of which the interceptor answers its part", async () => {
    const read = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "srv_artifact_read", arguments: {} } };
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const { forwarded, answers } = await talk.say([ping, read]);
    expect(JSON.parse(forwarded ?? "")).toEqual([ping]);
    expect(answers.map(({ id }) => id)).toEqual([2]);
    const text = '[ {"id":3,"method":"ping"} , {"method":"x"} ]';
    expect((await talk.say(text)).forwarded).toBe(text);
  });

  it("that sends more than a server takes is told, and so is a server that waits for it", async () => {
    const interceptor = await talk.interceptor;
    expect(JSON.parse(interceptor.refuse(large('"id":1,"method":"tools/call"')).toClient ?? "")).toMatchObject({
      id: 1,
      error: { code: -32600 },
    });
    expect(JSON.parse(interceptor.refuse(large('"id":"q","result":1')).toServer ?? "")).toMatchObject({ id: "q" });
    expect(interceptor.refuse(large('"method":"notifications/x"'))).toEqual({});
  });

  it("is answered when the server is gone, but not where it said that it no longer waits", async () => {
    for (const id of [1, 2]) await talk.say({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "a" } });
    await talk.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    const answers = (await talk.interceptor).abandon("The server ended.");
    expect(answers.map((answer) => JSON.parse(answer) as Message)).toEqual([
      { jsonrpc: "2.0", id: 2, error: { code: -32000, message: "The server ended." } },
    ]);
  });
});
