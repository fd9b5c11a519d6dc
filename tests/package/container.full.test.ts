/** The words of the Containerfile, with the package that is installed here in place of the image's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, onTestFinished, test } from "vitest";
import { readContainerfile, type ImageConfig } from "../../scripts/smoke/containerfile.mjs";
import { ROOT } from "./run.js";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

test("the process starts, its health check passes once it has, and the stop signal ends it", async () => {
  const data = await mkdtemp(join(tmpdir(), "sluice-container-"));
  onTestFinished(() => rm(data, { recursive: true, force: true }));
  const port = await freePort();
  const { config } = readContainerfile(await readFile(join(ROOT, "deploy/Containerfile"), "utf8")).at(-1) as {
    config: ImageConfig;
  };
  const here = (words: readonly string[] = []): string[] =>
    words.map((word) =>
      word
        .replace("/opt/sluice", inject("app"))
        .replace("/data", data)
        .replace("0.0.0.0:4751", `127.0.0.1:${port}`)
        .replace(":4751/", `:${port}/`),
    );
  const healthy = async (): Promise<number> => {
    const [program = "", ...args] = here(config.health?.command);
    const [code] = (await once(spawn(program, args, { stdio: "ignore" }), "exit")) as [number];
    return code;
  };
  expect(await healthy()).toBe(1);
  const [program = "", ...args] = here([...(config.entrypoint ?? []), ...(config.command ?? [])]);
  const child = spawn(program, args, { stdio: "ignore" });
  const ended = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  await expect.poll(healthy, { timeout: 30_000 }).toBe(0);
  await sleep(100);
  child.kill(config.stopSignal as NodeJS.Signals);
  expect(await ended).toEqual([143, null]);
});
