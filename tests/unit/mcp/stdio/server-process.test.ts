/** Programs that are started, what they write, and their ends. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ServerProcess } from "../../../../web/src/mcp/stdio/server-process.js";

const BUILT = new URL("../../../../dist/mcp/stdio/server-process.js", import.meta.url).href;

describe.each([
  ["each chunk of its own memory", false],
  ["all chunks of the same", true],
])("%s", (_, reusesMemory) => {
  const start = (script: string): Promise<ServerProcess> =>
    ServerProcess.start("sh", { args: ["-c", script], stderr: "ignore", reusesMemory });

  test("waiting for the end of one whose output somebody else holds open, and nobody reads, settles", async () => {
    const host = `
      import { ServerProcess } from ${JSON.stringify(BUILT)};
      const options = { args: ["-c", process.argv[1]], stderr: "ignore", reusesMemory: ${String(reusesMemory)} };
      const server = await ServerProcess.start("sh", options);
      await server.output[Symbol.asyncIterator]().next();
      await server.ended;
      console.log("ended");`;
    const script = "setsid yes & sleep 0.2";
    // With exit code 13 Node would say that it did not.
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", host, script]);
    expect(stdout).toBe("ended\n");
  });

  test("what is written arrives whole and in order, however slowly it is read", async () => {
    const server = await start("seq 1 300000; sleep 0.1; echo last");
    let text = "";
    for await (const chunk of server.output) {
      text += new TextDecoder().decode(chunk);
      if (text.length % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const numbers = Array.from({ length: 300_000 }, (_element, index) => index + 1);
    expect(text).toBe(`${numbers.join("\n")}\nlast\n`);
    expect(await server.ended).toEqual({ code: 0, signal: null });
  });

  test("one that nobody reads waits, and ends when it is stopped", async () => {
    const server = await start("yes");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(server.hasEnded).toBe(false);
    expect((await server.stop()).signal).toBe("SIGTERM");
  });

  test("one that nobody reads and that ends has ended", async () => {
    const server = await start("echo unread; exit 3");
    expect(await server.ended).toEqual({ code: 3, signal: null });
  });

  test("a reader that stops early leaves it to write into nothing", async () => {
    const server = await start("yes");
    for await (const chunk of server.output) {
      expect(chunk[0]).toBe(0x79);
      break;
    }
    // The system says so in an error, or with a signal that the shell in between may tell as 128 + 13.
    const { code, signal } = await server.ended;
    expect([1, 141, "SIGPIPE"]).toContain(code ?? signal);
  });

  test("what a child writes after it has gone is read", async () => {
    const server = await start("trap '' TERM; (sleep 0.3; echo late) & echo soon");
    let text = "";
    for await (const chunk of server.output) text += new TextDecoder().decode(chunk);
    expect(text).toBe("soon\nlate\n");
  });

  test("a program that is not there is a coded error, and leaves nothing behind", async () => {
    const own = await mkdtemp(join(tmpdir(), "sluice-"));
    vi.stubEnv("TMPDIR", own);
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await rm(own, { recursive: true });
    });
    await expect(ServerProcess.start("sluice-no-such-program", { reusesMemory })).rejects.toMatchObject({
      code: "E_MISUSE",
    });
    expect(await readdir(own)).toEqual([]);
  });
});

test.each([false, true])(
  "a program that the system refuses to start keeps nothing running (%s)",
  async (reusesMemory) => {
    const host = `
    import { ServerProcess } from ${JSON.stringify(BUILT)};
    const options = { args: ["x".repeat(4_000_000)], reusesMemory: ${String(reusesMemory)} };
    await ServerProcess.start("echo", options).catch(({ code }) => console.log(code));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", host], {
      timeout: 20_000,
    });
    expect(stdout).toBe("E_MISUSE\n");
  },
);

test("where no file can be opened any more, a server starts or is refused, and nobody waits for ever", async () => {
  const host = `
    import { openSync } from "node:fs";
    import { ServerProcess } from ${JSON.stringify(BUILT)};
    const { ServerOutput } = await import(${JSON.stringify(BUILT.replace("server-process", "server-output"))});
    await import("cross-spawn");
    const open = [];
    try { for (;;) open.push(openSync("/dev/null")); } catch {}
    const { closeSync } = await import("node:fs");
    let made = 0;
    for (let free = 0; free < 12; free += 1) {
      const output = await ServerOutput.open();
      if (output !== undefined) made += 1;
      output?.destroy();
      output?.handedOver();
      closeSync(open.pop());
    }
    console.log(made > 0 && made < 12);`;
  const shell = 'ulimit -n 64; exec "$0" --input-type=module -e "$1"';
  const { stdout } = await promisify(execFile)("sh", ["-c", shell, process.execPath, host], {
    timeout: 20_000,
    cwd: new URL("../../../../", import.meta.url),
  });
  expect(stdout).toBe("true\n");
});

test("where no socket can be made, a pipe does the same", async () => {
  const host = `
    import { ServerProcess } from ${JSON.stringify(BUILT)};
    const server = await ServerProcess.start("echo", { args: ["hello"], reusesMemory: true });
    for await (const chunk of server.output) process.stdout.write(chunk);
    console.log((await server.ended).code);`;
  const env = { ...process.env, TMPDIR: "/no/such/folder" };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", host], { env });
  expect(stdout).toBe("hello\n0\n");
});
