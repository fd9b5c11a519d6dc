/**
 * `npm run drill`: sets up, builds, and runs a day of `sluice serve` in minutes, with everything that goes wrong in it. What it takes is
 * in docs/drill.md; arguments go to scripts/drill/main.mjs.
 * @module
 */
import { build } from "./build.mjs";
import { run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  await setup("full");
  await build();
  const { code } = await run(process.execPath, ["scripts/drill/main.mjs", ...process.argv.slice(2)], { show: "own" });
  return code;
});
