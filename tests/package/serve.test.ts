/** The installed command, serving the page that it brings. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { NODE_VERSIONS, nodeFolder } from "./nodes.js";
import { isFull } from "../support/full.js";

const app = inject("app");
const SLUICE = join(app, "node_modules", ".bin", "sluice");

/** Starts it on a free port; gives its address, which ends with `/`. */
async function serving(path: string): Promise<string> {
  const child = spawn(SLUICE, ["serve", "--listen", "127.0.0.1:0"], {
    cwd: app,
    env: { ...process.env, PATH: path },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    child.kill();
    await ended;
  });
  const [line] = (await once(createInterface({ input: child.stderr }), "line")) as [string];
  return line.replace("sluice: listening on ", "");
}

describe.each(NODE_VERSIONS)("Node %s", (version) => {
  // A brief run tries the oldest alone.
  const isTried = isFull || version === NODE_VERSIONS[0];
  let path: string;

  beforeAll(async () => {
    path = await nodeFolder(version);
  }, 300_000);

  test.runIf(isTried)("`sluice serve` serves the playground, and sessions behind it", async () => {
    const url = await serving(path);
    const page = await (await fetch(url)).text();
    expect(page).toContain('<meta name="sluice-server" content="./" />');
    const named = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name = ""]) => name);
    expect(named.length).toBeGreaterThan(2);
    for (const name of named) expect([name, (await fetch(`${url}${name}`)).status]).toEqual([name, 200]);
    const begun = await fetch(`${url}sessions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(begun.status).toBe(201);
  });
});
