/** What arrives before the stores are open is told that the server starts; probes in the form of their own. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { HostGuard } from "../../../../web/src/server/http/host-guard.js";
import { Front } from "../../../../web/src/cli/serve/front.js";
import { ServeLog } from "../../../../web/src/cli/serve/log.js";
import { Output, type Terminal } from "../../../../web/src/cli/terminal/terminal.js";

function unopened(): Front {
  const output = new Output(new PassThrough(), {});
  const signal = new AbortController().signal;
  const terminal: Terminal = { input: new PassThrough(), output, errors: output, env: {}, signal };
  return new Front(new ServeLog(terminal, [], false));
}

test.each(["health", "ready"])("GET %s of a server that starts is 503, and says so", async (path) => {
  const answer = await unopened().fetch(new Request(`http://127.0.0.1/${path}`));
  expect([answer.status, await answer.json()]).toEqual([503, { status: "starting" }]);
});

test("any other request is to be tried again", async () => {
  const answer = await unopened().fetch(new Request("http://127.0.0.1/artifacts"));
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("1");
  expect(await answer.json()).toMatchObject({
    error: { code: "E_STORE_CLOSED", message: expect.stringContaining("starting") as string },
  });
});

test("without the playground, GET / says how to install it, and everything else is the server's", async () => {
  const front = unopened();
  const server = { fetch: async () => new Response("the server's", { status: 404 }) };
  front.open({ server, page: null, hosts: new HostGuard({}), takesLinks: false });
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    front.fetch(new Request(`http://127.0.0.1${path}`, { headers: { host: "127.0.0.1" }, ...init }));
  const page = await ask("/");
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect(await page.text()).toContain("<code>npm install mcp-sluice-playground</code>");
  for (const answer of [await ask("/index.html"), await ask("/", { method: "POST" })]) {
    expect(await answer.text()).toBe("the server's");
  }
});
