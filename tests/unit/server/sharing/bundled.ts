/** Programs of this folder in processes of their own. */
import { spawn } from "node:child_process";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A bundled program. */
export interface Program extends AsyncDisposable {
  /** The lines that it prints until it ends. */
  run(...words: readonly string[]): Promise<readonly string[]>;
}

/** Bundles a program with all that it imports, for plain node. */
export async function bundled(name: string): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-serving-"));
  await build({
    configFile: false,
    logLevel: "silent",
    resolve: {
      alias: {
        "#compile": here("../../../../web/src/core/compile-node.ts"),
        "#folder": here("../../../../web/src/artifacts/folder-node.ts"),
        "#hash": here("../../../../web/src/artifacts/hash-node.ts"),
      },
    },
    ssr: { noExternal: true },
    build: {
      ssr: here(`${name}.ts`),
      outDir: folder,
      rolldownOptions: { output: { entryFileNames: "program.mjs", codeSplitting: false } },
    },
  });
  await copyFile(here("../../../../web/src/core/core.wasm"), join(folder, "core.wasm"));
  return {
    run: (...words) => lines(join(folder, "program.mjs"), words),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

async function lines(path: string, words: readonly string[]): Promise<readonly string[]> {
  const child = spawn(process.execPath, [path, ...words], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`the program ended with ${String(code)}`);
  return text.split("\n").filter((line) => line !== "");
}
