/** Runs a source file of the tests in a process of its own, which can be killed and measured. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll } from "vitest";

/** A bundled program. */
export interface Program {
  /** The file that node runs. */
  readonly path: string;
  readonly start: (...words: readonly string[]) => ChildProcess;
}

/** Bundles `tests/unit/artifacts/<name>.ts` with what it imports, for plain node. */
export async function bundled(name: string): Promise<Program & { dispose(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-child-"));
  await build({
    configFile: false,
    logLevel: "silent",
    build: {
      ssr: fileURLToPath(new URL(`${name}.ts`, import.meta.url)),
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: "program.mjs" } },
    },
  });
  const path = join(folder, "program.mjs");
  return {
    path,
    start: (...words) => spawn(process.execPath, [path, ...words], { stdio: ["ignore", "pipe", "inherit"] }),
    dispose: () => rm(folder, { recursive: true }),
  };
}

/** The same for all tests of a file. */
export function programOf(name: string): Program {
  let program: Awaited<ReturnType<typeof bundled>> | undefined;
  beforeAll(async () => {
    program = await bundled(name);
  });
  afterAll(() => program?.dispose());
  const current = (): Program => {
    if (program === undefined) throw new Error("It is used before it is there.");
    return program;
  };
  return {
    get path() {
      return current().path;
    },
    start: (...words) => current().start(...words),
  };
}

/** The lines that a program prints until it is killed, `after` milliseconds behind the first of them. */
export async function killed(program: Program, words: readonly string[], after: number): Promise<readonly string[]> {
  const child = program.start(...words);
  const output = printed(child);
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  await sleep(after);
  child.kill("SIGKILL");
  return (await output).split("\n").filter((line) => line !== "");
}

/** All that a program prints, until it ends. */
export async function printed(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  await new Promise((resolve) => child.once("close", resolve));
  return text;
}
