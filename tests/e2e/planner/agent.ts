/** Agents in processes of their own, which can be killed. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What an agent prints. */
export interface Printed {
  readonly kind: "result" | "pause" | "error";
  readonly answer?: string;
  readonly resumeToken?: string;
  readonly code?: string;
  readonly message?: string;
}

/** `agent-program.ts` with all that it imports, for plain node. */
export async function bundledAgent(): Promise<{ readonly path: string; dispose(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-agent-"));
  await build({
    configFile: false,
    logLevel: "silent",
    resolve: {
      alias: {
        "#compile": here("../../../web/src/core/compile-node.ts"),
        "#hash": here("../../../web/src/artifacts/hash-node.ts"),
      },
    },
    ssr: { noExternal: true },
    build: {
      ssr: here("agent-program.ts"),
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: "program.mjs" } },
    },
  });
  return { path: join(folder, "program.mjs"), dispose: () => rm(folder, { recursive: true }) };
}

/** Where an agent works. */
export interface Place {
  readonly program: string;
  readonly folder: string;
  /** Where the model is, and the world that tools act on. */
  readonly origin: string;
}

/** One process. */
export class Agent implements AsyncDisposable {
  /** The line that it prints. */
  readonly printed: Promise<Printed>;
  readonly #process: ChildProcess;
  readonly #closed: Promise<unknown>;

  /** `later`: milliseconds by which the clock of its state store is fast. */
  constructor({ program, folder, origin }: Place, words: readonly string[], later = 0) {
    const core = new URL("../../../web/src/core/core.wasm", import.meta.url).href;
    const child = spawn(process.execPath, [program, folder, origin, core, String(later), ...words], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process = child;
    this.#closed = once(child, "close");
    this.printed = once(createInterface(child.stdout), "line").then(([line]) => JSON.parse(line as string) as Printed);
    // Some are killed before they print.
    this.printed.catch(() => undefined);
  }

  /** As `kill -9`. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
