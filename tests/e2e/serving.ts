/**
 * The fixture over HTTP.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A process that serves HTTP. */
export interface Serving extends AsyncDisposable {
  /** Of its endpoint. */
  readonly url: string;
}

/** Starts the fixture on a free port. @param args its own, e.g. `--page 40` */
export async function serveFixture(args: readonly string[] = []): Promise<Serving> {
  const script = fileURLToPath(new URL("fixture/http.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [url] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    ended.then(([code]) => {
      throw new Error(`the fixture ended with code ${String(code)} before it served`);
    }),
  ])) as [string];
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}
