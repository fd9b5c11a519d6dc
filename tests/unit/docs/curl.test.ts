/** The page on REST begins with a few commands: what they ask of a real server is answered as a reader would hope. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import stringArgv from "string-argv";
import { expect, test } from "vitest";
import { ROOT } from "../cli/command.js";
import { EVERYTHING, serve } from "../cli/serve/serving.js";

const page = await readFile(join(ROOT, "docs/rest.md"), "utf8");
const [, block = ""] = /```sh\n([\s\S]*?)\n```/.exec(page) ?? [];
const commands = block.replaceAll("\\\n", " ").match(/curl [^|)\n]+/g) ?? [];

/** Sends what a command line of curl says, to this server in place of the page's. */
async function sent(command: string, origin: string, token: string): Promise<Response> {
  const [, ...words] = stringArgv(command);
  const headers = new Headers();
  let [path, body]: [string, string | undefined] = ["", undefined];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const value = words[at + 1] ?? "";
    if (word === "-H") headers.append(value.split(": ", 1)[0] ?? "", value.slice(value.indexOf(": ") + 2));
    else if (word === "-d") body = value;
    else if (word.startsWith("localhost:4751/")) path = word.slice("localhost:4751".length);
    else if (word !== "-s" && word !== "-N") throw new Error(`an option of curl that is not known here: ${word}`);
    if (word === "-H" || word === "-d") at += 1;
  }
  const authorization = headers.get("authorization");
  if (authorization !== null) headers.set("authorization", authorization.replace("$token", token));
  return fetch(`${origin}${path}`, { headers, ...(body !== undefined && { method: "POST", body }) });
}

test("its commands begin a session, list the tools and call one", async () => {
  await using server = await serve(["--", ...EVERYTHING]);
  const origin = server.url.replace(/\/$/, "");
  const [begin = "", list = "", call = "", ...more] = commands;
  expect([begin, list, call].every((command) => command !== "") && more.length === 0).toBe(true);

  const { token } = (await (await sent(begin, origin, "")).json()) as { token: string };
  const { tools } = (await (await sent(list, origin, token)).json()) as { tools: readonly { name: string }[] };
  expect(tools.map(({ name }) => name)).toContain("everything.echo");
  const told = await (await sent(call, origin, token)).text();
  expect(told).toMatch(/event: result\n(?:id: .*\n)?data: .*Echo: hello/);
});
