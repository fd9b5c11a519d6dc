/**
 * `npm run hosts`: real hosts from npm in front of a model on loopback, plain and behind `sluice proxy`: what their models get. All of them, or
 * those that are named; `--cases img,csv`, `--plain` or `--behind` for a part; `--json FILE` for what was seen, which later runs add to;
 * `--write` puts the table into docs/hosts.md. Hosts are installed first; then they run without a network, where there is bubblewrap.
 * @module
 */
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { build } from "./build.mjs";
import { findOnPath } from "./on-path.mjs";
import { run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

const SCRIPT = fileURLToPath(import.meta.url);
const HARNESS = fileURLToPath(new URL("../tests/e2e/hosts/harness/main.ts", import.meta.url));

/** Says that everything is installed, and that there may be no network. */
const INSTALLED = "--installed";

/** All that there is but the network; and what a host leaves running ends with the harness. */
const APART = [
  "--dev-bind",
  "/",
  "/",
  "--proc",
  "/proc",
  "--unshare-net",
  "--unshare-pid",
  "--die-with-parent",
  "--cap-add",
  "ALL",
];

await main(async () => {
  const args = process.argv.slice(2).filter((arg) => arg !== INSTALLED && arg !== "--built");
  // Node 20 has no `await using`.
  const { module } = await runnerImport(HARNESS, { oxc: { target: "es2022" } });
  if (process.argv.includes(INSTALLED)) return void (await module.main(args));
  if (!process.argv.includes("--built")) {
    await setup("build");
    await build();
  }
  await module.prepare(args);
  const command = [process.execPath, SCRIPT, INSTALLED, ...args];
  const bwrap = findOnPath("bwrap");
  const [program, ...rest] = bwrap === undefined ? command : [bwrap, ...APART, ...command];
  const { code } = await run(program, rest, { show: "own" });
  return code;
});
