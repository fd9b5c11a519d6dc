/** Two servers in processes of their own over one Redis, and the world that their model and tools are in. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, vi } from "vitest";
import { scriptedModel, type Script } from "../../../web/src/planner/llm/scripted-model.js";
import { DURABLE, TestRedis } from "../../unit/redis/redis-server.js";
import { serveForTest } from "../../unit/tools/serve.js";
import { bundledAgent } from "../planner/agent.js";

/** A server in a process of its own. */
export interface Process {
  readonly port: number;
  /** As `kill -9`. */
  kill(): Promise<void>;
}

/** The servers, and what their tools did. */
export interface World {
  readonly one: Process;
  readonly other: Process;
  readonly redis: TestRedis;
  readonly written: () => number;
  /** What was to be sent, answered by the test. */
  readonly sent: ((text: string) => void)[];
  /** Waits for so many of them. */
  readonly sending: (count: number) => Promise<void>;
  /** Ends the leases of all runs, as the time does that a killed server no longer renews them in. */
  readonly endLeases: () => Promise<void>;
}

const SECRET = "a secret of more than thirty-two characters";
const CORE = fileURLToPath(new URL("../../../web/src/core/core.wasm", import.meta.url));

/** The program of a server, for plain node. */
export async function serverProgram(): ReturnType<typeof bundledAgent> {
  const program = await bundledAgent("../chat/server-program");
  await copyFile(CORE, join(dirname(program.path), "core.wasm"));
  return program;
}

/** A world for the time of a test. */
export async function worldOf(program: string, script: Script): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-chat-"));
  const redis = await TestRedis.started(...DURABLE);
  onTestFinished(async () => {
    await redis[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  const model = scriptedModel(script);
  const sent: World["sent"] = [];
  let written = 0;
  const answered = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk as string;
    if (request.url === "/written") {
      written += 1;
      response.end();
    } else if (request.url === "/sent") sent.push((text) => void response.end(text));
    else {
      const url = new URL(request.url ?? "", "http://model.test");
      const { status, headers, body: stream } = await model(url, { method: "POST", body });
      response.writeHead(status, Object.fromEntries(headers));
      for await (const chunk of stream ?? []) response.write(chunk);
      response.end();
    }
  };
  const origin = await serveForTest((request, response) => void answered(request, response));
  const started = (): Promise<Process> => startedWith([program, folder, origin, redis.url, SECRET]);
  const [one, other] = await Promise.all([started(), started()]);
  const sending = (count: number): Promise<void> =>
    vi.waitFor(() => expect(sent).toHaveLength(count), { timeout: 40_000 });
  const endLeases = async (): Promise<void> => {
    for (const key of await redis.keys()) {
      if (!key.includes(":runs:") || (await redis.command("TYPE", key)) !== "hash") continue;
      if ((await redis.command("HEXISTS", key, "leased")) === 1) await redis.command("HSET", key, "leased", "1");
    }
  };
  return { one, other, redis, written: () => written, sent, sending, endLeases };
}

async function startedWith(words: readonly string[]): Promise<Process> {
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { port: Number(line), kill };
}
