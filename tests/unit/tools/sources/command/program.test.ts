/** Programs that are not there, and tools that cannot be run: who is told, and when. */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandSource } from "../../../../../web/src/tools/sources/command/source.js";
import { isProgram } from "../../../../../web/src/tools/sources/command/run.js";
import type { SourceDeps } from "../../../../../web/src/tools/sources/document-source.js";
import { called, failure, gate, names, opened } from "../api.js";
import { at, script, tool, useFolder } from "./commands.js";

useFolder();

async function open(connection: string, deps: Partial<SourceDeps> = {}): ReturnType<typeof opened> {
  const { sluice } = await gate();
  return opened(commandSource({ name: "local", connection, sluice, ...deps }));
}

describe("a command on its own whose program is not there", () => {
  test.each(["auto", "manual_url"] as const)("is told of when it is connected (%s)", async (utcp_mode) => {
    for (const program of ["no-such-program-here", join(at(), "no-such-program-here"), at()]) {
      const error = await failure(open(`"${program}" --version`, { utcp_mode }));
      expect(error).toMatchObject({ name: "ToolConnectionError", isRetryable: false });
      expect(String(error)).toContain(program === at() ? "there is no program" : '"no-such-program-here"');
      expect(String(error)).not.toContain(`${at()}/`);
    }
  });

  test("is looked for where the source's environment says", async () => {
    const file = join(at(), "own-program");
    await writeFile(file, "#!/bin/sh\necho here\n");
    expect(await failure(open("own-program", { env: { PATH: at() } }))).toMatchObject({ code: "E_TOOL_CONNECTION" });
    await chmod(file, 0o755);
    expect(await names(await open("own-program", { env: { PATH: `/nowhere:${at()}` } }))).toEqual(["run"]);
    expect(await isProgram("own-program", { PATH: at() })).toBe(true);
    expect(await isProgram("own-program", { PATH: "/nowhere" })).toBe(false);
    expect(await isProgram("own-program", {})).toBe(true);
  });

  test("and is gone later is named by the call", async () => {
    const { source } = await tool({ commands: [{ command: "no-such-program-here" }] });
    const error = await failure(called(source, "it"));
    expect(error).toMatchObject({
      message: expect.stringContaining('cannot start its program "no-such-program-here"') as string,
    });
    expect(String(error)).not.toContain("working_dir");
    const away = await tool({ commands: [{ command: await script("") }], working_dir: join(at(), "away") });
    expect(String(await failure(called(away.source, "it")))).toMatch(/that the working_dir is there\.$/);
  });
});

test.each<[string, Record<string, unknown>, string]>([
  ["a pipe", { commands: [{ command: "ls | wc" }] }, "E_TOOL_UNSUPPORTED"],
  ["an open quote", { command_name: "ls '" }, "E_TOOL_CONFIG"],
  ["no command", { commands: [{ command: 5 }] }, "E_TOOL_CONFIG"],
])("a tool with %s is named", async (_, template, code) => {
  const good = { name: "good", tool_call_template: { call_template_type: "cli", command_name: "git" } };
  const bad = { name: "bad", tool_call_template: { call_template_type: "cli", ...template } };
  const error = await failure(open(JSON.stringify({ tools: [good, bad] })));
  expect(error).toMatchObject({
    code,
    message: expect.stringContaining('The tool "bad" of the source "local"') as string,
  });
  expect(await failure(open(JSON.stringify({ ...bad.tool_call_template, name: "alone" })))).toMatchObject({
    message: expect.stringContaining('The tool "alone" of the source "local"') as string,
  });
});

describe("arguments", () => {
  test("of a command on its own are words, and nothing else", async () => {
    const source = await open(await script("process.stdout.write(String(process.argv.length))"));
    const error = await failure(called(source, "run", { arg: ["x"] }));
    const message = 'The tool "run" of the source "local" takes no argument "arg": did you mean "args"?';
    expect(error).toMatchObject({ name: "ToolClientError", message });
    expect((await called(source, "run")).reduced.value).toBe(2);
  });

  test("that are needed are named before anything is run, unless there is a default", async () => {
    const properties = { file: { type: "string" }, lines: { type: "integer", default: 3 } };
    const inputs = { type: "object", properties, required: ["file", "lines"] };
    const command = `${await script("process.stdout.write(process.argv[2])")} UTCP_ARG_lines_UTCP_END UTCP_ARG_file_UTCP_END`;
    const template = { call_template_type: "cli", commands: [{ command }] };
    const source = await open(JSON.stringify({ tools: [{ name: "it", inputs, tool_call_template: template }] }));
    expect(await failure(called(source, "it", { lines: 1 }))).toMatchObject({
      name: "ToolClientError",
      message: expect.stringContaining(
        'needs the argument "file", which was not given: it takes "file", "lines".',
      ) as string,
    });
    expect((await called(source, "it", { file: "a" })).reduced.value).toBe(3);
  });
});
