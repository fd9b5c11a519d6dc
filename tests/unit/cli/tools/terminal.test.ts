/** The same commands on a terminal: tables, and a line that says what is waited for. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { COMMAND, Room } from "../command.js";
import { configOf, everything } from "./sources.js";

async function onTerminal(room: Room, ...args: readonly string[]): Promise<string> {
  const { NO_COLOR: _, ...env } = process.env;
  const line = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(" ");
  const options = { cwd: room.folder, env: { ...env, TERM: "xterm" } };
  const { stdout } = await promisify(execFile)("script", ["-qefc", `stty cols 90; ${line}`, "/dev/null"], options);
  return stdout.replaceAll("\r\n", "\n");
}

// util-linux's `script` gives a command a terminal.
describe.runIf(process.platform === "linux")("on a terminal", () => {
  test("presets are a table, with every variable to be read", async () => {
    await using room = await Room.open();
    const text = await onTerminal(room, "tools", "list");
    expect(text).toMatch(/PRESET +FOR +NEEDS/);
    expect(text).toContain("TABLEAU_PAT_VALUE");
    expect(text).toContain("sluice tools connect PRESET");
  });

  test("tools and resources are tables that fit", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const tools = await onTerminal(room, "tools", "list", ...config);
    expect(tools).toMatch(/TOOL +EFFECTS +DESCRIPTION/);
    expect(tools).toMatch(/^every\.get-annotated-message +read +Demonstrates .*…$/m);
    expect(await onTerminal(room, "resources", "list", "every", ...config)).toMatch(/URI +TYPE +SIZE +NAME/);
  });

  test("a call shows what the server says of its progress, and takes the line away", async () => {
    await using room = await Room.open();
    const config = await configOf(room, everything);
    const args = JSON.stringify({ duration: 3, steps: 6 });
    const call = ["tools", "call", "every.trigger-long-running-operation", "--args", args, "--store", "memory"];
    const text = await onTerminal(room, ...call, ...config);
    expect(text).toMatch(/\r\u001b\[Ktrigger-long-running-operation: \d of 6: \d+ s/);
    expect(text).toMatch(/\r\u001b\[K"Long running operation completed[^\n]*\n$/);
  });
});
