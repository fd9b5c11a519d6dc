/** Headers that say again what a request says. */
import { assert, property, string } from "fast-check";
import { expect, test } from "vitest";
import type { ListedTool } from "../../../../web/src/mcp/catalog.js";
import { replaceHeaders, mirrorHeaders, mismatchIn } from "../../../../web/src/mcp/http/headers.js";

const META = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
const TOOL: ListedTool = {
  name: "query",
  meta: {},
  isTyped: false,
  inputSchema: {
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      at: { type: "object", properties: { limit: { type: "integer", "x-mcp-header": "Limit" } } },
      bad: { type: "string", "x-mcp-header": "not a token" },
    },
  },
};
const find = (name: string): ListedTool | undefined => (name === "query" ? TOOL : undefined);
const call = (args: object): object => ({
  id: 1,
  method: "tools/call",
  params: { name: "query", arguments: args, _meta: META },
});
const headersOf = (message: object): Headers => new Headers(mirrorHeaders(message, find).map(([k, v]) => [k, v]));

test("a call says its tool, and the arguments that the tool declares", () => {
  expect(Object.fromEntries(headersOf(call({ region: "eu", at: { limit: 3 }, bad: "x" })))).toEqual({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "query",
    "mcp-param-region": "eu",
    "mcp-param-limit": "3",
  });
});

test("messages that do not say their revision have none", () => {
  expect(mirrorHeaders({ method: "tools/call", params: { name: "query" } }, find)).toEqual([]);
  expect(mirrorHeaders([], find)).toEqual([]);
  expect(mirrorHeaders(null, find)).toEqual([]);
});

test("whatever an argument is, its header can be sent and says the same", () => {
  assert(
    property(string({ unit: "grapheme" }), (region) => {
      const message = call({ region });
      expect(mismatchIn(headersOf(message), message, find)).toBeUndefined();
      expect(mismatchIn(headersOf(message), call({ region: `${region}.` }), find)).toBe("mcp-param-region");
    }),
  );
});

test.each([
  ["mcp-name", "other"],
  ["mcp-method", null],
  ["mcp-param-region", "=?base64?ZXU?="],
  ["mcp-param-region", "=?base64?e!U=?="],
  ["mcp-param-region", null],
  ["mcp-param-limit", "3"],
])("%s that says %j is found", (name, value) => {
  const headers = headersOf(call({ region: "eu" }));
  if (value === null) headers.delete(name);
  else headers.set(name, value);
  expect(mismatchIn(headers, call({ region: "eu" }), find)).toBe(name);
});

test("arguments that have changed on the way are said as they are now", () => {
  const changed = new TextEncoder().encode(JSON.stringify(call({ region: "us" })));
  expect(replaceHeaders(headersOf(call({ region: "eu" })), changed, find).get("mcp-param-region")).toBe("us");
});
