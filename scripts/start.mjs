/**
 * `npm start`: sets up, builds, then calls real servers and shows what a model would see of their answers.
 * @module
 */
import { build } from "./build.mjs";
import { run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  await setup("build");
  await build();
  const { code } = await run(process.execPath, ["scripts/demo/main.mjs", ...process.argv.slice(2)], { show: "own" });
  return code;
});
