#!/usr/bin/env node
/**
 * The command `sluice`. Imports nothing before it can say why that failed: where too few files may be open, Node cannot load the rest.
 * @module
 */
try {
  const { run } = await import("./program.js");
  process.exit(await run(process.argv.slice(2)));
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const why =
    code === "EMFILE" || code === "ENFILE" ? "too many files are open; raise the limit, see ulimit -n" : message;
  process.stderr.write(`sluice: ${why}\n`);
  process.exitCode = 1;
}
