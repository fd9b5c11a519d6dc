/** What pages may send a bridge, and read of it. */
import { expect, test } from "vitest";
import { forPages } from "../../../../web/src/cli/bridge/cross-origin.js";

const APP = "https://app.example";

/** What clients of both eras send. */
const SENT =
  "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id";

const answer = (method: string, headers: Record<string, string>): Promise<Response> =>
  forPages(async () => new Response("ours", { status: 405, headers: { vary: "Accept" } }))({
    method,
    path: "/",
    headers: new Headers(headers),
    body: undefined,
    signal: new AbortController().signal,
  });

const asking = (headers: string): Promise<Response> =>
  answer("OPTIONS", {
    origin: APP,
    "access-control-request-method": "POST",
    "access-control-request-headers": headers,
  });

const listed = ({ headers }: Response, name: string): readonly string[] => (headers.get(name) ?? "").split(", ");

test("a page may send what clients of both eras send, and reach this machine", async () => {
  const response = await asking("content-type");
  expect(response.status).toBe(204);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "access-control-allow-origin": APP,
    "access-control-allow-headers": SENT,
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-allow-private-network": "true",
    vary: expect.stringContaining("Origin") as unknown,
  });
});

test("headers that repeat arguments are allowed by the names that are asked for", async () => {
  const response = await asking("content-type,mcp-param-region, mcp-param-a_b,mcp-param-,x-other,*, mcp-param-2");
  expect(response.headers.get("access-control-allow-headers")).toBe(`${SENT}, mcp-param-region, mcp-param-2`);
  const many = await asking(Array.from({ length: 200 }, (_, number) => `mcp-param-${number}`).join(","));
  expect(listed(many, "access-control-allow-headers")).toHaveLength(SENT.split(", ").length + 64);
});

test("a page may read the response, whatever it is", async () => {
  const response = await answer("POST", { origin: APP });
  expect(response.status).toBe(405);
  expect(response.headers.get("access-control-allow-origin")).toBe(APP);
  expect(response.headers.get("access-control-allow-credentials")).toBeNull();
  expect(listed(response, "access-control-expose-headers")).toContain("Mcp-Session-Id");
  expect(listed(response, "vary")).toEqual(["Accept", "Origin"]);
});

test("who is no page gets the response as it is", async () => {
  for (const [method, headers] of [
    ["POST", {}],
    ["OPTIONS", { "access-control-request-method": "POST" }],
  ] as const) {
    const response = await answer(method, headers);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(await response.text()).toBe("ours");
  }
});
