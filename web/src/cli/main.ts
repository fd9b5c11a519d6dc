#!/usr/bin/env node
/**
 * The command `sluice`. Imports the rest dynamically, so that it can report why that fails, for instance because too many
 * files are open.
 * @module
 */
import nodeModule from "node:module";
import type { run } from "./program.js";

/** What both have. */
interface Program {
  readonly run: typeof run;
}

const args = process.argv.slice(2);

// In two steps, so that the compiler does not look for what the build makes.
const BUNDLED: string = "../bundled/proxy/program.js";

/** Whether the command line is that of a host, which waits: the modules for it are also in few files. Profiles are of modules. */
function isWaitedFor([command, ...rest]: readonly string[]): boolean {
  const end = rest.indexOf("--");
  if (command !== "proxy" || end === -1 || process.env["NODE_V8_COVERAGE"] !== undefined) return false;
  return !rest.slice(0, end).some((word) => word.startsWith("--listen"));
}

try {
  // Node 20 has none.
  (nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.();
  const program = isWaitedFor(args) ? ((await import(BUNDLED)) as Program) : await import("./program.js");
  process.exit(await program.run(args));
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === "EMFILE" || code === "ENFILE" ? "too many files are open; raise the limit (ulimit -n)" : message;
  process.stderr.write(`sluice: ${why}\n`);
  process.exitCode = 1;
}
