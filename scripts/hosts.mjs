/**
 * `npm run hosts`: real hosts from npm in front of a model on loopback, plain and behind `sluice proxy`: what their models get. All of them, or
 * those that are named; `--cases img,csv`, `--plain` or `--behind` for a part; `--json FILE` for what was seen, which later runs add to;
 * `--write` puts the table into docs/hosts.md.
 * @module
 */
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";
import { build } from "./build.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  if (!process.argv.includes("--built")) {
    await setup("build");
    await build();
  }
  const harness = fileURLToPath(new URL("../tests/e2e/hosts/harness/main.ts", import.meta.url));
  const { module } = await runnerImport(harness, { oxc: { target: "es2022" } });
  await module.main(process.argv.slice(2).filter((arg) => arg !== "--built"));
});
