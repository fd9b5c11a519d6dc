/** The texts of "Use this in my app" are run, parsed and compiled, with real servers behind them. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SluiceConfig } from "../../../web/src/index.js";
import {
  commandLine,
  CONFIG_FILE,
  configText,
  EXAMPLE,
  HOSTS,
  hostText,
  PLACEHOLDER,
  PROGRAMS,
  programText,
  setupServer,
  type SetupServer,
  withoutSecrets,
} from "../../../web/playground/app/call/setup-text.js";
import { typeErrors } from "../../support/strict-programs.js";
import { COMMAND } from "../cli/command.js";

const SERVER = fileURLToPath(new URL("../../support/office-server.mjs", import.meta.url));
const CONFIG: SluiceConfig = { max_inline_size: 300, guardrail: { truncation_suffix: '\n"x": {truncated_chars}' } };

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), "sluice-setup-"));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** A server at an address, which tells what headers it got. */
async function addressed(): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      seen.push(request.headers.authorization ?? "");
      const { id, method } = JSON.parse(body === "" ? "{}" : body) as { id?: number; method?: string };
      if (id === undefined) return response.writeHead(202).end();
      const capabilities = { tools: {} };
      const serverInfo = { name: "small", version: "1.0.0" };
      const hello = { protocolVersion: "2025-06-18", capabilities, serverInfo };
      const result = method === "initialize" ? hello : { tools: [{ name: "file", inputSchema: { type: "object" } }] };
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
}

const MESSAGES = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/list" },
];

/** The names of the tools that a command line offers; its `npx -y mcp-sluice` is the checkout's command. */
async function offered(line: string, cwd: string): Promise<readonly string[]> {
  const bin = join(cwd, "bin");
  await mkdir(bin, { recursive: true });
  const script = `#!/bin/sh\nshift 2\nexec '${process.execPath}' '${COMMAND}' "$@"\n`;
  await writeFile(join(bin, "npx"), script, { mode: 0o755 });
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, XDG_CACHE_HOME: join(cwd, "cache") };
  const child = spawn("sh", ["-c", line], { cwd, env });
  onTestFinished(() => void child.kill());
  const errors = text(child.stderr);
  for (const message of MESSAGES) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let output = "";
  for await (const chunk of child.stdout) {
    output += String(chunk);
    const answer = output.split("\n").find((each) => each.includes('"id":2'));
    if (answer === undefined || !output.endsWith("\n")) continue;
    child.stdin.end();
    const { result } = JSON.parse(answer) as { result: { tools: { name: string }[] } };
    return result.tools.map(({ name }) => name);
  }
  throw new Error(`It ended before it answered: ${await errors}`);
}

/** A server that is started, with a word that a shell would split. */
const started = (where: string): SetupServer => ({
  name: "office",
  command: [process.execPath, SERVER, join(where, "it's a folder")],
  hasToken: false,
});

describe("a command line", () => {
  test.each([{}, CONFIG])("starts a server behind Sluice, with %j", async (config) => {
    const where = await folder();
    const file = configText(config);
    if (file !== undefined) await writeFile(join(where, CONFIG_FILE), file);
    const tools = await offered(commandLine(started(where), config), where);
    expect(tools.slice(0, 2)).toEqual(["file", "save"]);
    expect(tools.some((name) => name.endsWith("_artifact_read"))).toBe(true);
  });

  test("reaches a server at an address, with the header that somebody fills in", async () => {
    const { url, seen } = await addressed();
    const server = setupServer({ name: "small", kind: "http", url }, true);
    const line = commandLine(server, {});
    const tools = await offered(line.replace(PLACEHOLDER, "s3cret"), await folder());
    expect(tools[0]).toBe("file");
    expect(seen[0]).toBe("Bearer s3cret");
  });
});

describe("a host's JSON", () => {
  test.each(HOSTS)("of $label starts what the command line starts", async (host) => {
    const where = await folder();
    const read = JSON.parse(hostText(host, started(where), {})) as Record<string, Record<string, unknown>>;
    const entry = read[host.key]?.["office"];
    expect(entry).toBeDefined();
    const { command, args } = entry as { command: string; args: string[] };
    const line = [command, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    expect((await offered(line, where))[0]).toBe("file");
  });
});

describe("a program", () => {
  const web = (hasToken: boolean): SetupServer =>
    setupServer({ name: "web", kind: "http", url: "https://example.com/mcp" }, hasToken);
  const cases = PROGRAMS.flatMap(({ id }) =>
    [EXAMPLE, web(true), web(false)].flatMap((server) => [{}, CONFIG].map((config) => ({ id, server, config }))),
  );

  test("compiles for strict users, of each kind and for each server", { timeout: 300_000 }, async () => {
    const programs = cases.map(
      ({ id, server, config }, at) => [`program-${at}`, programText(id, server, config)] as const,
    );
    expect(await typeErrors("setup", programs)).toEqual([]);
  });
});

test("no credential of an address is part of any text", () => {
  const url = "https://ada:pass1word@example.com/s/a1b2c3d4e5f6a7b8c9d0e1/mcp?key=hunter2&v=1";
  expect(withoutSecrets(url)).toBe(`https://example.com/s/${PLACEHOLDER}/mcp?key=${PLACEHOLDER}&v=${PLACEHOLDER}`);
  const server = setupServer({ name: "web", kind: "http", url }, true);
  const texts = [
    commandLine(server, {}),
    ...HOSTS.map((host) => hostText(host, server, {})),
    ...PROGRAMS.map(({ id }) => programText(id, server, {})),
  ];
  for (const each of texts) expect(each).not.toMatch(/ada|pass1word|a1b2c3|hunter2/);
  // Others on a machine can read arguments, so the address is a variable.
  expect(texts[0]).toMatch(/^SLUICE_PROXY_URL='https:.* npx -y mcp-sluice proxy$/);
});

test("a server in the page is told by one that anybody can run", () => {
  expect(setupServer({ name: "demo", kind: "demo", url: "" }, false)).toBe(EXAMPLE);
  expect(setupServer(undefined, false)).toBe(EXAMPLE);
});
