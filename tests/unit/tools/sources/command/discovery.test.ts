/** Where commands come from. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandSource } from "../../../../../web/src/tools/sources/command/source.js";
import { called, gate, names, opened } from "../api.js";
import { at, script, tool, useFolder } from "./commands.js";

useFolder();

const PRINT_ARGS = "process.stdout.write(JSON.stringify(process.argv.slice(2)))";

describe("where tools come from", () => {
  const template = { call_template_type: "cli", command_name: "git" };

  test("a bare command is one tool that takes words", async () => {
    const { sluice } = await gate();
    const source = await opened(
      commandSource({ name: "local", connection: `${await script(PRINT_ARGS)} fixed`, sluice }),
    );
    expect(await names(source)).toEqual(["run"]);
    expect((await called(source, "run", { args: ["-x", "a b"] })).reduced.value).toEqual(["fixed", "-x", "a b"]);
    for (const args of ["-x", [1], {}]) {
      await expect(called(source, "run", { args })).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
    }
  });

  test("a file, YAML or JSON; a call template alone", async () => {
    const { sluice } = await gate();
    const manual = { utcp_version: "1", tools: [{ name: "local.status", tool_call_template: template }] };
    await writeFile(join(at(), "tools.json"), JSON.stringify(manual));
    await writeFile(
      join(at(), "tools.yaml"),
      "tools:\n  - name: status\n    tool_call_template: {call_template_type: cli, command_name: git}\n",
    );
    for (const file of ["tools.json", "tools.yaml"]) {
      const source = await opened(commandSource({ name: "local", connection: join(at(), file), sluice }));
      expect(await names(source)).toEqual(["status"]);
    }
    const source = await opened(
      commandSource({ name: "local", connection: JSON.stringify({ ...template, name: "it" }), sluice }),
    );
    expect(await names(source)).toEqual(["it"]);
  });

  test("a command that prints a manual, where it is asked for one", async () => {
    const { sluice } = await gate();
    const print = await script(
      `console.log(JSON.stringify({ tools: [{ name: "a", tool_call_template: ${JSON.stringify(template)} }] }))`,
    );
    const source = await opened(commandSource({ name: "local", connection: print, utcp_mode: "manual_url", sluice }));
    expect(await names(source)).toEqual(["a"]);
  });

  test("what is none is refused with the place and without the path", async () => {
    const { sluice } = await gate();
    const broken = {
      tools: [{ name: "a", tool_call_template: { call_template_type: "cli", commands: [{ command: 1 }] } }],
    };
    const cases: [string, string][] = [
      [join(at(), "missing.json"), "cannot be read"],
      [JSON.stringify(broken), "tools[0].tool_call_template.commands.0.command"],
      [
        JSON.stringify({
          tools: [{ name: "a", tool_call_template: { call_template_type: "http", url: "https://x" } }],
        }),
        "type http",
      ],
      ["{", "has no UTCP manual"],
      ["", "empty command"],
    ];
    for (const [connection, message] of cases) {
      const error: unknown = await opened(commandSource({ name: "local", connection, sluice })).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ message: expect.stringContaining(message) as string, isRetryable: false });
      expect((error as Error).message).not.toContain(at());
    }
  });

  test("a program that is not there says so without its path", async () => {
    const { source } = await tool({ commands: [{ command: join(at(), "nothing-here") }] });
    const error: unknown = await called(source, "it").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "E_TOOL_CONFIG" });
    expect(String(error)).not.toContain(at());
  });
});
