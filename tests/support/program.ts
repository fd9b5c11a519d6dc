/** Source files of tests that run in processes of their own, which can be killed and measured. */
import { spawn, type ChildProcess } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll } from "vitest";
import { amount } from "./full.js";

/** A bundled program. */
export interface Program {
  /** The file that node runs. */
  readonly path: string;
  readonly start: (...words: readonly string[]) => ChildProcess;
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Bundles a source file with all that it imports, for plain node. `first`: the words that it is always started with. */
export async function bundled(
  source: URL,
  ...first: readonly string[]
): Promise<Program & { dispose(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-program-"));
  await build({
    configFile: false,
    logLevel: "silent",
    resolve: {
      alias: {
        "#compile": here("../../web/src/core/compile-node.ts"),
        "#folder": here("../../web/src/artifacts/folder-node.ts"),
        "#hash": here("../../web/src/artifacts/hash-node.ts"),
      },
    },
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(source),
      outDir: folder,
      // One file: the core is looked for beside it.
      rolldownOptions: { output: { entryFileNames: "program.mjs", codeSplitting: false } },
    },
  });
  await copyFile(here("../../web/src/core/core.wasm"), join(folder, "core.wasm"));
  const path = join(folder, "program.mjs");
  return {
    path,
    start: (...words) => spawn(process.execPath, [path, ...first, ...words], { stdio: ["ignore", "pipe", "inherit"] }),
    dispose: () => rm(folder, { recursive: true }),
  };
}

/** The same for all tests of a file. */
export function programOf(source: URL, ...first: readonly string[]): Program {
  let program: Awaited<ReturnType<typeof bundled>> | undefined;
  beforeAll(async () => {
    program = await bundled(source, ...first);
  }, 120_000);
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
  return linesIn(await output);
}

/** All that a program prints, until it ends. */
export async function printed(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  await new Promise((resolve) => child.once("close", resolve));
  return text;
}

/** The lines of a text that are not empty. */
export function linesIn(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

// More than a program makes; it says when it got through.
const MOST_CALLS = 300;
const AT_ONCE = 4;
/** How far apart the calls are that are tried: in the full run it is each of them. */
const STEP = amount(4, 1);

/** What is wrong with a store whose process died before one of its calls; `through` when it did not die. */
export interface Dying {
  readonly through: boolean;
  readonly wrong: readonly string[];
}

/** What came of processes that died before each of the calls that they would have made. */
export interface Died {
  /** By the call's number: what is wrong then. */
  readonly wrong: Readonly<Record<number, readonly string[]>>;
  /** Whether one made all of its calls. */
  readonly through: boolean;
  readonly died: number;
}

/** Lets a process die before each of its calls to the file system; in a brief run, before every fourth. */
export async function dyingAtEach(dying: (call: number) => Promise<Dying>): Promise<Died> {
  const wrong: Record<number, readonly string[]> = {};
  let died = 0;
  let next = 0;
  let through = false;
  const walk = async (): Promise<void> => {
    while (!through && next < MOST_CALLS) {
      const call = next;
      next += STEP;
      const outcome = await dying(call);
      if (outcome.wrong.length > 0) wrong[call] = outcome.wrong;
      if (outcome.through) through = true;
      else died += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, walk));
  return { wrong, through, died };
}
