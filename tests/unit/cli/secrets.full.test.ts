/** Secrets of the command's own: no program that a command starts gets any, and they may come from files. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { listening } from "../../e2e/http/proxies.js";
import { whyNoSandbox } from "../files/sandboxes.js";
import { readSecret } from "../../../web/src/cli/configuration.js";
import { COMMAND, Room, sluice } from "./command.js";
import { begin, serve } from "./serve/serving.js";
import { configOf } from "./tools/sources.js";

const SECRET = randomBytes(16).toString("hex");
const SECRETS = {
  SLUICE_PROXY_TOKEN: SECRET,
  SLUICE_SERVE_TOKEN: `serve-${SECRET}`,
  SLUICE_SERVE_SECRET: `signs-${SECRET}-${SECRET}`,
  SLUICE_LATER_KEY: `later-${SECRET}`,
};

/**
 * A program that writes the environments of itself and of its siblings to a file, and ends when its input does. A sibling that is
 * still a copy of the parent, and did not become a program of its own, has no environment of its own either.
 */
const PROGRAM = `
  const { readdirSync, readFileSync, writeFileSync } = require("node:fs");
  const commandOf = (pid) => readFileSync("/proc/" + pid + "/cmdline", "utf8");
  const siblings = [];
  for (const pid of process.platform === "linux" ? readdirSync("/proc") : []) {
    try {
      const stat = readFileSync("/proc/" + pid + "/stat", "utf8");
      if (stat.slice(stat.lastIndexOf(")")).split(" ")[2] !== String(process.ppid)) continue;
      // Looked at before the environment: it may become a program in between.
      if (commandOf(pid) !== commandOf(process.ppid)) siblings.push(readFileSync("/proc/" + pid + "/environ", "utf8"));
    } catch {}
  }
  setTimeout(() => writeFileSync(process.argv[2], JSON.stringify([process.env, siblings])), 50);
  process.stdin.resume().on("end", () => setTimeout(() => process.exit(0), 100));
`;

/** The command that runs it in a folder, where it writes the file `seen`. */
async function recorder(room: Room): Promise<readonly string[]> {
  return [process.execPath, await room.write("recorder.cjs", PROGRAM), room.path("seen")];
}

/** What was written, once it is. */
function recorded(file: string): Promise<string> {
  const look = async (): Promise<string> => {
    const text = await readFile(file, "utf8");
    expect(text).toContain("PATH");
    return text;
  };
  return vi.waitFor(look);
}

test("proxy: in front of a command", async () => {
  await using room = await Room.open();
  await sluice(["proxy", "--store", room.store, "--", ...(await recorder(room))], { env: SECRETS });
  expect(await recorded(room.path("seen"))).not.toContain(SECRET);
});

test("proxy: with nothing taken out of results", async () => {
  await using room = await Room.open();
  await sluice(["proxy", "--bypass", "--", ...(await recorder(room))], { env: SECRETS });
  expect(await recorded(room.path("seen"))).not.toContain(SECRET);
});

test("proxy: offered over HTTP", async () => {
  await using room = await Room.open();
  const args = ["--store", room.store, "--", ...(await recorder(room))];
  await using proxy = await listening(args, SECRETS);
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } };
  const headers = {
    authorization: `Bearer ${SECRET}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const body = JSON.stringify(initialize);
  fetch(proxy.url, { method: "POST", headers, body, signal: ended.signal }).catch(() => undefined);
  expect(await recorded(room.path("seen"))).not.toContain(SECRET);
});

test.each([
  ["tools", "list"],
  ["tools", "call", "recorder.any"],
  ["resources", "list", "recorder"],
  ["resources", "templates", "recorder"],
  ["resources", "read", "recorder", "file:///any"],
])("%s %s: a source that is a program", async (...command) => {
  await using room = await Room.open();
  const connection = (await recorder(room)).map((word) => JSON.stringify(word)).join(" ");
  const config = await configOf(room, { name: "recorder", transport: "mcp", connection, timeout_s: 1 });
  await sluice([...command, ...config], { env: SECRETS });
  expect(await recorded(room.path("seen"))).not.toContain(SECRET);
});

test("tools: a source that asks for a secret by name is told that there is none", async () => {
  await using room = await Room.open();
  const source = { name: "asks", transport: "mcp", connection: "node x.js", env: { MINE: "${SLUICE_PROXY_TOKEN}" } };
  const { code, stdout, stderr } = await sluice(["tools", "list", ...(await configOf(room, source as never))], {
    env: SECRETS,
  });
  expect(code).not.toBe(0);
  expect(stderr).toContain("SLUICE_PROXY_TOKEN");
  expect(stdout + stderr).not.toContain(SECRET);
});

test("serve: a command", async () => {
  await using room = await Room.open();
  await using server = await serve(["--", ...(await recorder(room))], SECRETS);
  const session = await begin(server.url, { authorization: `Bearer ${SECRETS.SLUICE_SERVE_TOKEN}` });
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  session.ask("tools", { signal: ended.signal }).catch(() => undefined);
  expect(await recorded(room.path("seen"))).not.toContain(SECRET);
});

test.skipIf((await whyNoSandbox()) !== undefined)("run: a sandboxed command, also asked for by name", async () => {
  await using room = await Room.open();
  const args = ["run", "--user", "ada", "--tmp", room.path("tmp"), "--env", "SLUICE_PROXY_TOKEN", "--"];
  const line = "env; tr '\\0' '\\n' < /proc/1/environ";
  const { stdout } = await sluice([...args, "sh", "-c", line], { env: SECRETS });
  expect(stdout).toContain("PATH=");
  expect(stdout).not.toContain(SECRET);
});

test("a secret may stand in a file, whose path is never told", async () => {
  await using room = await Room.open();
  const file = await room.write("token", `${SECRET}\n`);
  expect(readSecret({ ONE_FILE: file }, "ONE", 16, "proxy")).toBe(SECRET);
  expect(readSecret({ ONE: SECRET }, "ONE", 16, "proxy")).toBe(SECRET);
  expect(readSecret({}, "ONE", 16, "proxy")).toBeUndefined();
  const wrong: readonly (readonly [NodeJS.ProcessEnv, string])[] = [
    [{ ONE: SECRET, ONE_FILE: file }, "not both"],
    [{ ONE_FILE: room.path("none") }, "the file named in ONE_FILE cannot be read"],
    [{ ONE_FILE: room.folder }, "the file named in ONE_FILE cannot be read"],
    [{ ONE_FILE: await room.write("short", "short\n") }, "at least 16 characters"],
    [{ ONE_FILE: await room.write("long", "x".repeat(65_537)) }, "more than 64 KiB"],
  ];
  for (const [env, sentence] of wrong) {
    expect(() => readSecret(env, "ONE", 16, "proxy")).toThrow(sentence);
    expect(() => readSecret(env, "ONE", 16, "proxy")).not.toThrow(room.folder);
  }
  const refused = await sluice(["proxy", "--listen", "127.0.0.1:0", "--", process.execPath, COMMAND], {
    env: { SLUICE_PROXY_TOKEN_FILE: room.path("none") },
  });
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("SLUICE_PROXY_TOKEN_FILE");
  expect(refused.stderr).not.toContain(room.folder);
});

test("a proxy whose token is in a file lets in who has it", async () => {
  await using room = await Room.open();
  const file = await room.write("token", SECRET);
  const args = ["--store", room.store, "--", ...(await recorder(room))];
  await using proxy = await listening(args, { SLUICE_PROXY_TOKEN_FILE: file });
  const refused = await fetch(proxy.url, { method: "POST", body: "{}" });
  expect(refused.status).toBe(401);
  const authorization = `Bearer ${SECRET}`;
  const taken = await fetch(proxy.url, { method: "POST", body: "{}", headers: { authorization } });
  expect(taken.status).not.toBe(401);
});
