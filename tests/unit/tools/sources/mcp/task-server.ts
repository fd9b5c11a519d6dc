/**
 * The server whose tools run as tasks, as a source over either transport.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import type { ToolSource } from "../../../../../web/src/tools/source.js";
import { over, processSource, type Setting } from "./setting.js";

const SCRIPT = fileURLToPath(new URL("task-server.mjs", import.meta.url));

/** One server over HTTP for all tests of a file, and a process for each source over stdio. */
export function useTaskServer(): (at: Setting, transport: "stdio" | "http") => ToolSource {
  const { execPath } = globalThis.process;
  let stop: (() => Promise<void>) | undefined;
  let url = "";
  beforeAll(async () => {
    const child = spawn(execPath, [SCRIPT, "--http"], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    stop = async () => {
      child.kill();
      await ended;
    };
  });
  afterAll(() => stop?.());
  return (at, transport) =>
    transport === "stdio" ? processSource(at, { argv: [execPath, SCRIPT] }) : over(at, { url });
}
