import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { COMMAND, listed, Room, sluice } from "../command.js";
import { PDF, WORKBOOK } from "../results.js";

const self = `${JSON.stringify(process.execPath)} ${JSON.stringify(COMMAND)}`;

async function onTerminal(room: Room, command: string, typed = ""): Promise<string> {
  const { NO_COLOR: _, ...env } = process.env;
  const options = { cwd: room.folder, env: { ...env, TERM: "xterm" } };
  const running = promisify(execFile)("script", ["-qefc", `stty cols 100; ${command}`, "/dev/null"], options);
  running.child.stdin?.write(typed);
  return (await running).stdout.replaceAll("\r\n", "\n");
}

// util-linux's `script` gives a command a terminal.
describe.runIf(process.platform === "linux")("on a terminal", () => {
  test("list is a table with sizes a person can read", async () => {
    await using room = await Room.open();
    await sluice(["transform", "--store", room.store, "--namespace", "t"], { input: WORKBOOK });
    const text = await onTerminal(room, `${self} artifacts list --store store`);
    expect(text).toMatch(/ID +TYPE +SIZE +AGE +FILE/);
    expect(text).toContain(`${(PDF.length / 1024).toFixed(1)} KB`);
    expect(text).toContain("1 artifact");
  });

  test("NO_COLOR leaves colours out", async () => {
    await using room = await Room.open();
    expect(await onTerminal(room, `${self} --help`)).toContain("\u001b[1m");
    expect(await onTerminal(room, `NO_COLOR=1 ${self} --help`)).not.toContain("\u001b");
  });

  test("get does not spill bytes over the screen", async () => {
    await using room = await Room.open();
    await sluice(["transform", "--store", room.store], { input: WORKBOOK });
    const id = (await listed(room.store))[0]!.id;
    await expect(onTerminal(room, `${self} artifacts get ${id} --store store`)).rejects.toMatchObject({
      code: 2,
      stdout: expect.stringContaining("-o FILE") as string,
    });
  });

  test("purge asks, and believes a no", async () => {
    await using room = await Room.open();
    await sluice(["transform", "--store", room.store], { input: WORKBOOK });
    await expect(onTerminal(room, `${self} artifacts purge --store store`, "n\n")).rejects.toMatchObject({ code: 1 });
    expect(await listed(room.store)).toHaveLength(1);
    expect(await onTerminal(room, `${self} artifacts purge --store store`, "yes\n")).toContain("Delete 1 artifact");
    expect(await listed(room.store)).toHaveLength(0);
  });

  test("long work shows progress and takes it away again", async () => {
    await using room = await Room.open();
    // In pieces, so that work goes on long enough wherever the command is slow to start.
    const slowly = `(printf '{"a":"'; for i in 1 2 3 4 5 6; do sleep 0.5; head -c 500000 /dev/zero | tr '\\0' x; done; printf '"}')`;
    const text = await onTerminal(room, `${slowly} | ${self} transform --store store`);
    expect(text).toMatch(/\r\u001b\[Ktransform: [\d.]+ [KM]?B, [\d.]+ [KM]?B\/s/);
    expect(text).toMatch(/\r\u001b\[K\{/);
  });
});
