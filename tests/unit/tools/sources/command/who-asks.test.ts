/** Commands that are told who asks, by a variable of their environment. */
import { describe, expect, test } from "vitest";
import { commandSource } from "../../../../../web/src/tools/sources/command/source.js";
import type { SourceDeps } from "../../../../../web/src/tools/sources/document-source.js";
import { ToolNode } from "../../../../../web/src/tools-node.js";
import { called, failure, gate, names, opened } from "../api.js";
import { script, useFolder } from "./commands.js";

useFolder();

const TELL = "process.stdout.write(JSON.stringify([process.env.OWN_TOKEN ?? null, process.env.OTHER ?? null]))";

describe.each<[string, Partial<SourceDeps>, Record<string, string>]>([
  ["bearer", { auth_type: "bearer" }, { Authorization: "Bearer s3cret" }],
  ["api_key", { auth_type: "api_key" }, { "X-API-Key": "s3cret" }],
  ["oauth2_user", { auth_type: "oauth2_user" }, { Authorization: "Bearer s3cret" }],
])("%s", (_, auth, headers) => {
  test("each command has the credential that holds when it is run", async () => {
    const { sluice } = await gate();
    const connection = await script(TELL);
    const deps = { name: "local", connection, sluice, env: { OTHER: "as ever" }, auth_config: { env: "OWN_TOKEN" } };
    const now = { ...headers };
    const source = await opened(commandSource({ ...deps, ...auth }), async () => now);
    expect((await called(source, "run")).reduced.value).toEqual(["s3cret", "as ever"]);
    for (const [name, value] of Object.entries(now)) now[name] = value.replace("s3cret", "renewed");
    expect((await called(source, "run")).reduced.value).toEqual(["renewed", "as ever"]);
  });

  test("a command that prints a manual has it too", async () => {
    const { sluice } = await gate();
    const manual = `{tools: [{name: process.env.OWN_TOKEN, tool_call_template: {call_template_type: "cli", commands: [{command: "x"}]}}]}`;
    const connection = await script(`process.stdout.write(JSON.stringify(${manual}))`);
    const deps = {
      name: "local",
      connection,
      sluice,
      utcp_mode: "manual_url",
      auth_config: { env: "OWN_TOKEN" },
    } as const;
    expect(await names(await opened(commandSource({ ...deps, ...auth }), async () => headers))).toEqual(["s3cret"]);
  });

  test("what would go nowhere is refused before anything is run", async () => {
    const { sluice } = await gate();
    const deps = { name: "local", connection: await script(TELL), sluice, ...auth };
    const error = await failure(Promise.resolve().then(() => commandSource(deps)));
    expect(error).toMatchObject({ code: "E_TOOL_CONFIG", message: expect.stringContaining("auth_config") as string });
  });
});

test("a source of commands with a key", async () => {
  const config = { name: "local", transport: "cli", connection: await script(TELL), auth_type: "api_key" } as const;
  expect(() => new ToolNode({ ...config, auth_config: { api_key: "k3y" } })).toThrow(/"auth_config.env" is missing/);
  await using node = new ToolNode({ ...config, auth_config: { api_key: "k3y", env: "OWN_TOKEN" } });
  await node.connect();
  expect((await node.call("run")).value).toEqual(["k3y", null]);
});
