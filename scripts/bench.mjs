/**
 * `npm run bench`: sets up, builds, measures. Arguments go to scripts/bench/main.mjs.
 * @module
 */
import { build } from "./build.mjs";
import { run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  await setup("build");
  await build();
  const { code } = await run(process.execPath, ["scripts/bench/main.mjs", ...process.argv.slice(2)], { show: "own" });
  return code;
});
