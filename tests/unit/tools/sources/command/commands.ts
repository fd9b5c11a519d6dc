/**
 * Commands for a test, and sources of them.
 * @module
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, onTestFinished } from "vitest";
import type { ArtifactStore } from "../../../../../web/src/artifacts/store.js";
import { commandSource } from "../../../../../web/src/tools/sources/command/source.js";
import type { SourceConnection } from "../../../../../web/src/tools/source.js";
import type { SourceDeps } from "../../../../../web/src/tools/sources/document-source.js";
import { gate, opened } from "../api.js";

let folder: string;

/** Makes a folder for each test of a file or a `describe`, and removes it behind the test. */
export function useFolder(): void {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-command-"));
    onTestFinished(() => rm(folder, { recursive: true }));
  });
}

/** The folder of the test; there is one where `useFolder` was called. */
export function at(): string {
  return folder;
}

/** Words for a command that runs JavaScript, without quotes that would have to be escaped. */
export async function script(code: string, name = "script.mjs"): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, code);
  return `"${process.execPath}" "${path}"`;
}

/** A source of one tool, `it`. */
export async function tool(
  template: Record<string, unknown>,
  deps: Partial<SourceDeps> = {},
): Promise<{ readonly source: SourceConnection; readonly store: ArtifactStore }> {
  const { sluice, store } = await gate();
  const connection = JSON.stringify({
    utcp_version: "1.1.0",
    tools: [{ name: "it", tool_call_template: { call_template_type: "cli", ...template } }],
  });
  return { source: await opened(commandSource({ name: "local", connection, sluice, ...deps })), store };
}

/** The same for one script, with `rest` behind it. */
export async function one(
  code: string,
  rest = "",
  template: Record<string, unknown> = {},
  deps: Partial<SourceDeps> = {},
): ReturnType<typeof tool> {
  return tool({ commands: [{ command: `${await script(code)} ${rest}` }], ...template }, deps);
}
