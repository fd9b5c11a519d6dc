/** Commands as tools: real processes, no shell. */
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ToolNode } from "../../../../../web/src/tools-node.js";
import { isProgram } from "../../../../../web/src/tools/sources/command/run.js";
import { commandSource, fillWords, type Values } from "../../../../../web/src/tools/sources/command/source.js";
import { splitWords } from "../../../../../web/src/tools/sources/command/tools.js";
import type { SourceDeps } from "../../../../../web/src/tools/sources/document-source.js";
import { onlyBytes, PDF, PNG, prose } from "../../../core/samples.js";
import { called, failure, gate, names, opened } from "../api.js";
import { at, one, script, tool, useFolder } from "./commands.js";

describe("commands", () => {
  useFolder();

  const PRINT_ARGS = "process.stdout.write(JSON.stringify(process.argv.slice(2)))";

  describe("what a command prints", () => {
    test.each([
      ["JSON as it was written", '{"n": 1.50, "n": 2}', '{"n": 1.50, "n": 2}'],
      ["text", "one\ntwo\n", '"one\\ntwo\\n"'],
      ["nothing", "", "null"],
      ["lines of JSON, which are text", '{"a":1}\n{"a":2}\n', JSON.stringify('{"a":1}\n{"a":2}\n')],
    ])("%s", async (_, output, expected) => {
      const { source } = await one(`process.stdout.write(${JSON.stringify(output)})`);
      const { reduced, isError } = await called(source, "it");
      expect(isError).toBe(false);
      expect(reduced.text).toBe(expected);
    });

    test.each([
      ["a PDF", PDF, "application/pdf"],
      ["a PNG", PNG, "image/png"],
      ["text in Latin-1", Buffer.from("n\u00e9e\n".repeat(100), "latin1"), expect.any(String)],
    ])("%s, as its exact bytes", async (_, bytes, type) => {
      const file = join(at(), "file.bin");
      await writeFile(file, bytes);
      const { source, store } = await one(
        `import fs from "node:fs"; fs.createReadStream(${JSON.stringify(file)}).pipe(process.stdout)`,
      );
      const { reduced } = await called(source, "it");
      expect(await onlyBytes(store, reduced.artifacts)).toEqual(Buffer.from(bytes));
      expect(reduced.artifacts[0]?.mime_type).toEqual(type);
    });

    test.each([
      ["text", prose(3_000_000)],
      ["JSON", JSON.stringify(Array.from({ length: 90_000 }, (_, id) => ({ id, name: "row ü" })))],
    ])("%s of megabytes, all of it", async (_, output) => {
      const file = join(at(), "file.txt");
      await writeFile(file, output);
      const { source, store } = await one(
        `import fs from "node:fs"; fs.createReadStream(${JSON.stringify(file)}).pipe(process.stdout)`,
      );
      const { reduced, isError } = await called(source, "it");
      expect(isError).toBe(false);
      expect((await onlyBytes(store, reduced.artifacts)).toString()).toBe(output);
      expect(reduced.text.length).toBeLessThan(3_000);
    });
  });

  describe("a command that fails is a result that says so", () => {
    test("with what it printed and the end of its standard error", async () => {
      const code = `process.stdout.write("half"); console.error("x".repeat(50_000) + "\\nno such branch"); process.exitCode = 3`;
      const { source } = await one(code);
      const { reduced, isError } = await called(source, "it", {}, { dialect: "mcp" });
      expect(isError).toBe(true);
      const { content, isError: isSaid } = reduced.value as { content: { text: string }[]; isError: boolean };
      expect(isSaid).toBe(true);
      expect(content[0]?.text).toBe("half");
      expect(content[1]?.text).toBe("The command ended with exit code 3: no such branch");
      expect(content[2]?.text).toMatch(/^\[sluice\] text, 48\.8 KB/);
    });

    test("a secret file in its standard error is stored, not shown", async () => {
      const { source, store } = await one(
        `console.error(${JSON.stringify(PNG.toString("base64"))}); process.exitCode = 1`,
      );
      const { reduced, isError } = await called(source, "it");
      expect(isError).toBe(true);
      expect(await onlyBytes(store, reduced.artifacts)).toEqual(PNG);
    });

    test("after megabytes", async () => {
      const { source, store } = await one(
        `process.stdout.write("[" + "1,".repeat(1_500_000) + "1]", () => { console.error("late"); process.exit(9) })`,
      );
      const { reduced, isError } = await called(source, "it");
      expect(isError).toBe(true);
      expect(reduced.text).toContain("exit code 9.");
      expect(await onlyBytes(store, reduced.artifacts)).toHaveLength(3_000_003);
    });

    test("when a signal ends it", async () => {
      const { source } = await one(`process.kill(process.pid, "SIGKILL")`);
      const { reduced, isError } = await called(source, "it");
      expect(isError).toBe(true);
      expect(reduced.text).toContain("was ended by SIGKILL");
    });
  });

  describe("several commands", () => {
    test("show the output of the last one, or of those that say so, and refer to those before", async () => {
      const upper = await script("process.stdout.write(process.argv[2].toUpperCase())", "upper.mjs");
      const echo = await script("process.stdout.write(process.argv[2] + '\\n')", "echo.mjs");
      const commands = [
        { command: `${echo} UTCP_ARG_word_UTCP_END`, append_to_final_output: null },
        { command: `${upper} "<$CMD_0_OUTPUT \${CMD_0_OUTPUT}>"` },
      ];
      const { source } = await tool({ commands });
      expect((await called(source, "it", { word: "a b $CMD_1_OUTPUT" })).reduced.value).toBe(
        "<A B $CMD_1_OUTPUT A B $CMD_1_OUTPUT>",
      );
      const both = await tool({ commands: commands.map(({ command }) => ({ command, append_to_final_output: true })) });
      expect((await called(both.source, "it", { word: "x" })).reduced.value).toBe("x\n<X X>");
    });

    test("end with the first that fails", async () => {
      const fail = await script("console.log('first'); process.exitCode = 4", "fail.mjs");
      const never = await script(`import fs from "node:fs"; fs.writeFileSync("ran", "")`, "never.mjs");
      const { source } = await tool({ commands: [{ command: fail }, { command: never }], working_dir: at() });
      const { reduced, isError } = await called(source, "it");
      expect(isError).toBe(true);
      expect(reduced.text).toContain("exit code 4.");
      await expect(readFile(join(at(), "ran"))).rejects.toThrow("ENOENT");
    });

    test("a cd goes for those behind it", async () => {
      const where = await script("process.stdout.write(process.cwd())", "where.mjs");
      const { source } = await tool({ commands: [{ command: "cd UTCP_ARG_dir_UTCP_END" }, { command: where }] });
      expect((await called(source, "it", { dir: at() })).reduced.value).toContain(at().split("/").pop());
    });
  });

  describe("the environment", () => {
    test("has what programs need and what they are given, and no secret of ours", async () => {
      vi.stubEnv("OUR_SECRET", "hush");
      onTestFinished(() => void vi.unstubAllEnvs());
      const deps = { env: { GIVEN: "1", OVER: "env" }, auth_config: { token: "t0ken" } };
      const template = { env_vars: { OVER: "template", KEY: "${token}" } };
      const { source } = await one("process.stdout.write(JSON.stringify(process.env))", "", template, deps);
      const { reduced } = await called(source, "it");
      expect(reduced.value).toMatchObject({ GIVEN: "1", OVER: "template", KEY: "t0ken", PATH: process.env["PATH"] });
      expect(reduced.text).not.toContain("hush");
    });

    test("standard input is closed", async () => {
      const { source } = await one(`process.stdin.resume().on("end", () => process.stdout.write("end"))`);
      expect((await called(source, "it")).reduced.value).toBe("end");
    });

    test("a variable without a value is named", async () => {
      const { source } = await one(PRINT_ARGS, "${TOKEN}");
      await expect(called(source, "it")).rejects.toMatchObject({
        code: "E_TOOL_AUTH",
        message: expect.stringContaining("TOKEN") as string,
      });
    });
  });

  describe("a call that is given up", () => {
    test("ends the command and all that it started, and throws the reason", async () => {
      const file = join(at(), "pid");
      const { source } = await one(`
      import { spawn } from "node:child_process";
      import fs from "node:fs";
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
      fs.writeFileSync(${JSON.stringify(file)}, String(child.pid));
      console.log("ready");
      setInterval(() => {}, 1000);
    `);
      const giving = new AbortController();
      const call = called(source, "it", {}, { signal: giving.signal });
      const pid = await vi.waitFor(
        async () => Number(await readFile(file, "utf8")) || Promise.reject(new Error("soon")),
        10_000,
      );
      const reason = new Error("enough");
      giving.abort(reason);
      await expect(call).rejects.toBe(reason);
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 10_000);
    });

    test("before it began runs nothing", async () => {
      const { source } = await one(`import fs from "node:fs"; fs.writeFileSync("ran", "")`, "", { working_dir: at() });
      await expect(called(source, "it", {}, { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
      await expect(readFile(join(at(), "ran"))).rejects.toThrow("ENOENT");
    });

    test("closing the connection ends what runs, and further calls are refused", async () => {
      const file = join(at(), "started");
      const { source } = await one(`
      import fs from "node:fs";
      fs.writeFileSync(${JSON.stringify(file)}, "");
      setInterval(() => {}, 1000);
    `);
      const call = called(source, "it").catch((error: unknown) => error);
      await vi.waitFor(() => readFile(file), 10_000);
      await source[Symbol.asyncDispose]();
      expect(source.isOpen).toBe(false);
      expect(await call).toMatchObject({ isError: true });
      await expect(called(source, "it")).rejects.toMatchObject({ code: "E_TOOL_CONNECTION" });
    });
  });
});

/** Arguments in commands: a value is a word, and nothing else. */
describe("arguments", () => {
  const values = (args: Record<string, unknown>, more: Partial<Values> = {}): Values => ({
    args,
    schema: {},
    outputs: [],
    fill: (text) => text,
    subject: "It",
    ...more,
  });
  const placed = (command: string, args: Record<string, unknown>, more?: Partial<Values>): readonly string[] =>
    fillWords(splitWords(command, "It"), "placeholders", values(args, more));
  const flagged = (args: Record<string, unknown>): readonly string[] => {
    const property = { type: "string" };
    const schema = { properties: { name: property, all: property, file: property } };
    return fillWords(["tool"], "flags", values(args, { schema }));
  };

  const withKey = (text: string): string => text.replaceAll("${KEY}", "secret");

  describe("in place of placeholders", () => {
    test("any text is one word, whatever is in it", () => {
      const text = fc.string({ unit: "binary" }).filter((word) => !word.startsWith("-") && !word.includes("\0"));
      fc.assert(
        fc.property(text, (a) => {
          expect(placed("tool UTCP_ARG_a_UTCP_END x", { a })).toEqual(["tool", a, "x"]);
          expect(placed("tool '--a=UTCP_ARG_a_UTCP_END y'", { a })).toEqual(["tool", `--a=${a} y`]);
        }),
      );
    });

    test("numbers, booleans, objects and lists", () => {
      expect(placed("t UTCP_ARG_a_UTCP_END", { a: -5 })).toEqual(["t", "-5"]);
      expect(placed("t UTCP_ARG_a_UTCP_END", { a: true })).toEqual(["t", "true"]);
      expect(placed("t UTCP_ARG_a_UTCP_END", { a: { b: 1 } })).toEqual(["t", '{"b":1}']);
      expect(placed("t UTCP_ARG_a_UTCP_END z", { a: ["x y", 2] })).toEqual(["t", "x y", "2", "z"]);
      expect(placed("t UTCP_ARG_a_UTCP_END", { a: [] })).toEqual(["t"]);
      expect(placed("t a=UTCP_ARG_a_UTCP_END", { a: ["x", 2] })).toEqual(["t", 'a=["x",2]']);
    });

    test("what begins like an option is refused, unless the command says that none follow", () => {
      for (const a of ["-rf", "--output=/etc/passwd", "-"]) {
        for (const command of ["t UTCP_ARG_a_UTCP_END", "t UTCP_ARG_a_UTCP_END.txt"]) {
          expect(() => placed(command, { a })).toThrow(expect.objectContaining({ code: "E_TOOL_CLIENT" }) as Error);
        }
        expect(placed("t -- UTCP_ARG_a_UTCP_END", { a })).toEqual(["t", "--", a]);
        expect(placed("t --file=UTCP_ARG_a_UTCP_END", { a })).toEqual(["t", `--file=${a}`]);
      }
      expect(() => placed("t UTCP_ARG_a_UTCP_END", { a: ["x", "-y"] })).toThrow("begins with");
      expect(() => placed("t $CMD_0_OUTPUT", {}, { outputs: ["-x"] })).toThrow("begins with");
    });

    test("a default stands for what is missing; without one it is named", () => {
      const schema = { properties: { a: { default: 7 } } };
      expect(placed("t UTCP_ARG_a_UTCP_END", {}, { schema })).toEqual(["t", "7"]);
      expect(placed("t UTCP_ARG_a_UTCP_END", { a: null }, { schema })).toEqual(["t", "7"]);
      expect(() => placed("t UTCP_ARG_a_UTCP_END", {})).toThrow('needs the argument "a"');
      expect(() => placed("t UTCP_ARG_constructor_UTCP_END", {})).toThrow("needs the argument");
    });

    test("a value is not looked at again", () => {
      const args = { a: "${KEY} UTCP_ARG_b_UTCP_END $CMD_0_OUTPUT", b: "b" };
      expect(placed("t x=${KEY},UTCP_ARG_a_UTCP_END", args, { fill: withKey })).toEqual(["t", `x=secret,${args.a}`]);
    });

    test("what no command takes is refused before it is tried", () => {
      for (const a of [
        "a\0b",
        "x".repeat(131_072),
        "ü".repeat(70_000),
        Array.from({ length: 11 }, () => "x".repeat(100_000)),
      ]) {
        expect(() => placed("t UTCP_ARG_a_UTCP_END", { a })).toThrow(
          expect.objectContaining({ code: "E_TOOL_CLIENT" }) as Error,
        );
      }
    });
  });

  describe("as options", () => {
    test("a name and a value, a name alone for true, once for each item", () => {
      expect(flagged({ name: "a b", all: true })).toEqual(["tool", "--name", "a b", "--all"]);
      expect(flagged({ name: ["a", 1], all: false, file: null })).toEqual(["tool", "--name", "a", "--name", "1"]);
    });

    test("a value that begins like an option stays with its name", () => {
      expect(flagged({ file: "-rf" })).toEqual(["tool", "--file=-rf"]);
    });

    test("only names of the schema", () => {
      for (const args of [{ exec: "rm" }, { "name=x --all": 1 }, { __proto__: null, toString: "x" }]) {
        expect(() => flagged(args)).toThrow("takes no argument");
      }
    });
  });

  describe("commands", () => {
    test("are split once, quotes keep together, a backslash is itself", () => {
      expect(splitWords(String.raw`a "b c" 'd "e' C:\x --f="g h"`, "It")).toEqual([
        "a",
        "b c",
        'd "e',
        String.raw`C:\x`,
        "--f=g h",
      ]);
    });

    test.each([
      "ls | wc",
      "a && b",
      "a ; b",
      "a > f",
      "a 2>&1",
      "a << b",
      "echo $(id)",
      "UTCP_ARG_a_UTCP_END x",
      "./UTCP_ARG_a_UTCP_END",
      "sh -c UTCP_ARG_a_UTCP_END",
      'bash -lc "echo UTCP_ARG_a_UTCP_END"',
      "/usr/bin/env bash -c 'x $CMD_0_OUTPUT'",
      "python3 -c print(UTCP_ARG_a_UTCP_END)",
      "node --eval UTCP_ARG_a_UTCP_END",
      "powershell.exe -Command UTCP_ARG_a_UTCP_END",
      "awk UTCP_ARG_a_UTCP_END file",
      "perl -pe s/a/UTCP_ARG_a_UTCP_END/",
    ])("%s needs a shell or runs a value, and is refused", (command) => {
      expect(() => splitWords(command, "It")).toThrow(expect.objectContaining({ code: "E_TOOL_UNSUPPORTED" }) as Error);
    });

    test.each(["", "  ", 'a "b', "a 'b", "a\0b", "x ".repeat(1_001)])("%j is none", (command) => {
      expect(() => splitWords(command, "It")).toThrow(expect.objectContaining({ code: "E_TOOL_CONFIG" }) as Error);
    });

    test.each([
      "bash script.sh UTCP_ARG_a_UTCP_END",
      "git log -c UTCP_ARG_a_UTCP_END",
      "node tool.mjs --file UTCP_ARG_a_UTCP_END",
      "awk -f prog.awk UTCP_ARG_a_UTCP_END",
    ])("%s is one", (command) => {
      expect(splitWords(command, "It").length).toBeGreaterThan(2);
    });
  });
});

/** Where commands come from. */
describe("discovery", () => {
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
});

/** Programs that are not there, and tools that cannot be run: who is told, and when. */
describe("programs", () => {
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
        expect(String(error)).toContain(program === at() ? "there is no executable program" : '"no-such-program-here"');
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
      expect(String(await failure(called(away.source, "it")))).toMatch(/that the working_dir exists\.$/);
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
          'needs the argument "file", which is missing: it takes "file", "lines".',
        ) as string,
      });
      expect((await called(source, "it", { file: "a" })).reduced.value).toBe(3);
    });
  });
});

/** Commands that are told who asks, by a variable of their environment. */
describe("who asks", () => {
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
});
