/**
 * What a server says when it refuses a message over HTTP: clients put it into an error, which a model reads.
 */
import { expect, test } from "vitest";
import { gateFetch, MemoryArtifactStore } from "../../../../web/src/node.js";
import { png } from "../interceptor/talk.js";

const REQUEST = {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}',
};

/** What a client gets of a refusal. */
async function refusedWith(body: string, headers: Record<string, string> = {}): Promise<Response> {
  const refuse = async (): Promise<Response> => new Response(body, { status: 502, headers });
  return gateFetch(refuse, { store: new MemoryArtifactStore() })("https://a.example/mcp", REQUEST);
}

test.each([
  ["text", "text/plain", (data: string) => `Bad gateway: ${data}`, String],
  [
    "JSON",
    "application/json",
    (data: string) => JSON.stringify({ error: { code: -32000, message: data } }),
    JSON.parse,
  ],
  ["a page", "text/html", (data: string) => `<img src="data:image/png;base64,${data}">`, String],
])("bytes in %s do not come through", async (_, type, write, read) => {
  const data = png(5000);
  const response = await refusedWith(write(data), { "content-type": type });
  const text = await response.text();
  expect(response.status).toBe(502);
  expect(response.headers.get("content-type")).toBe(type);
  expect(text).toContain("artifact");
  expect(text).not.toContain(data.slice(100, 300));
  expect(() => read(text) as unknown).not.toThrow();
});

test("what holds none comes as it came, with its headers", async () => {
  const response = await refusedWith('{"error":"invalid_token"}', { "www-authenticate": "Bearer" });
  expect(await response.text()).toBe('{"error":"invalid_token"}');
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
});

test("one above a mebibyte has no body", async () => {
  const response = await refusedWith("a ".repeat(600_000));
  expect([response.status, await response.text()]).toEqual([502, ""]);
});
