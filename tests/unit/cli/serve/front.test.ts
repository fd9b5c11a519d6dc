/** What arrives before the stores are open is told that the server starts; probes in the form of their own. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
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
