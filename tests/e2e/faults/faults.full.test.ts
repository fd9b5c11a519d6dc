import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FileArtifactStore } from "../../../web/src/node.js";
import { mounted, unmounted } from "../../unit/artifacts/small-disk.js";
import { amount } from "../../support/full.js";
import { Host, isRunning } from "./host.js";

let store: string;
beforeAll(async () => {
  store = await mkdtemp(join(tmpdir(), "sluice-faults-"));
});
afterAll(() => rm(store, { recursive: true, force: true }));

/** Waits until a process is gone. */
async function gone(pid: number): Promise<void> {
  await expect.poll(() => isRunning(pid), { timeout: 15_000 }).toBe(false);
}

async function artifacts(): Promise<number> {
  let count = 0;
  for await (const { size_bytes: size } of new FileArtifactStore(store).list()) count += size > 0 ? 1 : 0;
  return count;
}

/** The processes that a server told of: itself, and one that it started. */
async function family(host: Host): Promise<readonly number[]> {
  const { result } = await host.call("child");
  return (result?.content?.[0]?.text ?? "").split(" ").map(Number);
}

describe("a server that ends", () => {
  it("in the middle of a result leaves no call without an answer, and nothing half stored", async () => {
    await using host = await Host.open({ store });
    const before = await artifacts();
    const calls = [host.begin("tools/call", { name: "crash" }), host.begin("tools/list"), host.begin("ping")];
    const answers = await Promise.all(calls.map((id) => host.answer(id)));
    for (const { error } of answers)
      expect(error?.message).toMatch(/was ended by SIGKILL before it answered|could not be passed on/);
    expect(await host.ended).toEqual({ code: null, signal: "SIGKILL" });
    expect(await artifacts()).toBe(before);
  });

  it("by itself gives the proxy its exit code", async () => {
    await using host = await Host.open({ store });
    const { error } = await host.call("exit");
    expect(error).toEqual({
      code: -32000,
      message: expect.stringMatching(/^The server ended with exit code 7 before it answered: /),
    });
    expect(await host.ended).toEqual({ code: 7, signal: null });
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("by the %s that its host sent", async (signal) => {
    await using host = await Host.open({ store });
    const pids = await family(host);
    host.process.kill(signal);
    expect(await host.ended).toEqual({ code: null, signal });
    for (const pid of pids) await gone(pid);
  });

  it("takes with it what it started, when its host closes its input", async () => {
    await using host = await Host.open({ store });
    const pids = await family(host);
    host.process.stdin.end();
    expect(await host.ended).toEqual({ code: 0, signal: null });
    for (const pid of pids) await gone(pid);
  });

  it("is not left behind when the proxy is killed, however stubborn it is", async () => {
    await using host = await Host.open({ store, server: ["--stubborn"] });
    const pids = await family(host);
    host.process.kill("SIGKILL");
    expect((await host.ended).signal).toBe("SIGKILL");
    for (const pid of pids) await gone(pid);
  });

  it("is not left behind when its host is gone", async () => {
    await using host = await Host.open({ store, server: ["--stubborn"] });
    const pids = await family(host);
    host.process.stdin.end();
    host.process.stdout.destroy();
    host.process.stderr.destroy();
    for (const pid of pids) await gone(pid);
    expect((await host.ended).code).not.toBe(0);
  });

  it("cannot be started: one sentence, and no stack", async () => {
    const host = new Host({ store, options: ["--bypass", "--", "no-such-command-here"] });
    expect((await host.ended).code).toBe(1);
    expect(host.errors).toMatch(
      /^sluice: cannot start "no-such-command-here": there is no such command; check its spelling and PATH\n$/,
    );
  });
});

describe("a command that cannot be started", () => {
  it.each([[[]], [["--bypass"]]])("costs who waits an answer, and says so on standard error: %j", async (options) => {
    const host = new Host({ store, options: [...options, "--", "no-such-command-here"] });
    const id = host.begin("initialize", { protocolVersion: "2025-11-25", capabilities: {} });
    const { error } = await host.answer(id);
    expect(error).toMatchObject({ code: -32000 });
    expect(error?.message).toMatch(/^The server could not be started: there is no such command\. Check the command/);
    expect((await host.ended).code).toBe(1);
    expect(host.errors).toMatch(
      /^sluice: cannot start "no-such-command-here": there is no such command; check its spelling and PATH\n$/,
    );
  });

  it("answers a client whose input has ended", async () => {
    const host = new Host({ store, options: ["--", "no-such-command-here"] });
    host.send({ jsonrpc: "2.0", method: "notifications/x" });
    host.process.stdin.end();
    expect((await host.ended).code).toBe(1);
    expect(host.lines).toEqual([]);
  });
});

describe("a host that sends more than servers take", () => {
  const much = "much ".repeat(2_000_000);

  it("is told so: in answers where it waits for some, else on standard error", async () => {
    await using host = await Host.open({ store });
    host.send({ jsonrpc: "2.0", method: "notifications/much", params: { much } });
    host.send([{ jsonrpc: "2.0", id: "in a batch", method: "tools/call", params: { much } }]);
    expect((await host.call("small")).result?.content?.[0]?.text).toBe("small");
    const batch = await host.until(() => host.messages.find((message) => Array.isArray(message)));
    expect(batch).toMatchObject([{ id: "in a batch", error: { code: -32600 } }]);
    const said = host.errors.split("\n").filter((line) => line.includes("was not passed on"));
    expect(said).toEqual([
      expect.stringContaining('sluice: the client\'s notification "notifications/much" was not passed on'),
      expect.stringContaining("sluice: the client's batch was not passed on"),
    ]);
    expect(host.errors).not.toContain("much much");
  });
});

describe("a host that goes", () => {
  it("in the middle of a result leaves nothing half stored, and no process", async () => {
    // The shell is the host: the proxy is its child.
    await using host = await Host.open({ store, before: "true;", after: "; true" });
    const before = await artifacts();
    const pids = await family(host);
    host.begin("tools/call", { name: "half" });
    await host.until(() => (host.errors.includes("half is written") ? true : undefined));
    host.process.kill("SIGKILL");
    host.process.stdin.destroy();
    for (const pid of pids) await gone(pid);
    await host.ended;
    expect(await artifacts()).toBe(before);
  });
});

describe("a server's line", () => {
  it("that is no message goes to standard error, and the answer behind it arrives", async () => {
    await using host = await Host.open({ store });
    const { result } = await host.call("stray");
    expect(result?.content?.[0]?.text).toBe("answered");
    expect(host.errors).toContain("INFO: about to answer\n[INFO] in brackets\n{ not: 'json' }\n");
  });

  it("that breaks off is answered for, and the connection lives on", async () => {
    await using host = await Host.open({ store });
    const { error } = await host.call("broken");
    expect(error?.message).toContain("could not be passed on");
    expect((await host.call("small")).result?.content?.[0]?.text).toBe("small");
  });

  it("with invalid UTF-8 becomes valid, as every client reads it", async () => {
    await using host = await Host.open({ store });
    expect((await host.call("utf8")).result?.content?.[0]?.text).toBe("a\ufffd\ufffdb");
  });

  it.each([
    ["no message", "x"],
    ["half a message", '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"'],
    ["no answer to anything", '{"jsonrpc":"2.0","id":99,"result":{"content":[{"type":"text","text":"'],
  ])(
    "of hundreds of megabytes that is %s costs no memory, and the connection lives on",
    async (_, head) => {
      await using host = await Host.open({ store });
      // Nobody wants to read so much noise. A slow machine takes a minute for 2 GB of it.
      host.process.stderr.removeAllListeners("data").resume();
      expect((await host.call("line", { mebibytes: 2048, head })).result?.content?.[0]?.text).toBe("after");
      expect(host.peak).toBeLessThan(200);
    },
    300_000,
  );
});

function bytes(host: Host, size: number): ReturnType<Host["call"]> {
  return host.call("bytes", { size });
}

describe("a server that goes on in its own way", () => {
  it("may make noise that nobody reads", async () => {
    await using host = await Host.open({ store });
    host.process.stderr.pause();
    expect((await host.call("noise", { mebibytes: 8 })).result?.content?.[0]?.text).toBe("answered");
  });

  it("is ended, and its calls are answered, when it can say nothing more", async () => {
    await using host = await Host.open({ store });
    const pids = await family(host);
    expect((await host.call("mute")).error?.message).toContain("before it answered");
    for (const pid of pids) await gone(pid);
  });
});

describe("a full disk", () => {
  let disk: string | undefined;
  beforeAll(() => {
    disk = mounted(8);
  });
  afterAll(() => {
    if (disk !== undefined) unmounted(disk);
  });

  it("costs what does not fit, which says so, and the connection lives on", async ({ skip }) => {
    await using host = await Host.open({ store: join(disk ?? skip("mounting a small disk needs root"), "store") });
    expect((await bytes(host, 1_000_000)).result?.content?.[0]?.text).toContain("Stored, not shown");
    const text = (await bytes(host, 20_000_000)).result?.content?.[0]?.text;
    expect(text).toMatch(/^\[sluice\] PDF.* Content not stored\. .*\(E_STORE_FULL\)/);
    expect(text).not.toContain(tmpdir());
    expect((await bytes(host, 1_000_001)).result?.content?.[0]?.text).toContain("Stored, not shown");
    expect(host.errors).toContain("could not be stored");
  });

  it("costs the answer where that is configured, and the connection lives on", async ({ skip }) => {
    const full = disk ?? skip("mounting a small disk needs root");
    const config = join(store, "error.json");
    await writeFile(config, '{"interceptor":{"on_store_failure":"error"}}');
    await using host = await Host.open({ store: join(full, "store"), options: ["--config", config] });
    const { error } = await bytes(host, 20_000_000);
    expect(error).toMatchObject({ code: -32603, data: { code: "E_STORE_FULL" } });
    expect((await host.call("small")).result?.content?.[0]?.text).toBe("small");
  });
});

describe("a host that does not read", () => {
  it("can end the proxy all the same", async () => {
    await using host = await Host.open({ store });
    const pids = await family(host);
    host.process.stdout.pause();
    host.begin("tools/call", { name: "flood", arguments: { count: 20_000 } });
    await new Promise((resolve) => setTimeout(resolve, 1000));
    host.process.kill("SIGTERM");
    for (const pid of [...pids, host.process.pid ?? 0]) await gone(pid);
    host.process.stdout.resume();
    expect((await host.ended).signal).toBe("SIGTERM");
  });
});

describe("a host that reads slowly", () => {
  it("holds the server back, and memory stays flat", async () => {
    await using host = await Host.open({ store });
    host.process.stdout.pause();
    const count = amount(30_000, 200_000);
    const id = host.begin("tools/call", { name: "flood", arguments: { count } });
    await new Promise((resolve) => setTimeout(resolve, amount(1000, 3000)));
    expect(host.peak).toBeLessThan(160);
    host.process.stdout.resume();
    await host.answer(id);
    expect(host.lines.filter((line) => line.includes("notifications/message"))).toHaveLength(count);
    expect(host.peak).toBeLessThan(200);
  });
});
