/** Processes that share state, for tests. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { bundledAgent } from "../../../e2e/planner/agent.js";

/** One process, and what it prints after its first line. */
export interface Shared {
  readonly lines: readonly string[];
  /** Settles when the process is over. */
  readonly over: Promise<unknown>;
  readonly process: ChildProcess;
}

/** Starts `state-program` with these words; gives it when it is ready. */
export type StartShared = (...words: readonly string[]) => Promise<Shared>;

/** The program, for the tests of a file. */
export function useProcesses(): StartShared {
  let program: Awaited<ReturnType<typeof bundledAgent>> | undefined;
  beforeAll(async () => {
    program = await bundledAgent("../../unit/server/redis/state-program");
  });
  afterAll(() => program?.dispose());
  return async (...words) => {
    const child = spawn(process.execPath, [program?.path ?? "", ...words], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const over = once(child, "close");
    const lines: string[] = [];
    const reader = createInterface(child.stdout);
    await once(reader, "line");
    reader.on("line", (line) => lines.push(line));
    return { lines, over, process: child };
  };
}
