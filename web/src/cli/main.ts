#!/usr/bin/env node
/**
 * The command `sluice`. Imports the rest dynamically, so that it can report why that fails, for instance because too many
 * files are open.
 * @module
 */
try {
  const { run } = await import("./program.js");
  process.exit(await run(process.argv.slice(2)));
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === "EMFILE" || code === "ENFILE" ? "too many files are open; raise the limit (ulimit -n)" : message;
  process.stderr.write(`sluice: ${why}\n`);
  process.exitCode = 1;
}
