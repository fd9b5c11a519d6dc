/** Commands as tools: real processes, no shell. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { onlyBytes, PDF, PNG, prose } from "../../../core/samples.js";
import { called } from "../api.js";
import { at, one, script, tool, useFolder } from "./commands.js";

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
