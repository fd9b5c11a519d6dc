/**
 * `npm start`: sets up, builds, calls real servers and shows what a model would see of their answers; then serves the
 * playground until it is interrupted. `--no-serve` ends after what was shown.
 * @module
 */
import { build } from "./build.mjs";
import { run } from "./run.mjs";
import { main, setup } from "./setup.mjs";
import { buildSite, serveSite } from "./site.mjs";

await main(async () => {
  await setup("build");
  await build();
  const options = process.argv.slice(2);
  const { code } = await run(process.execPath, ["scripts/demo/main.mjs", ...options], { show: "own" });
  if (code !== 0 || options.includes("--no-serve")) return code;
  await buildSite();
  const { url } = await serveSite();
  console.log(`The playground: ${url} (Ctrl-C ends it)`);
  return new Promise(() => {});
});
