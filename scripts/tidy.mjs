/**
 * clang-tidy over the core: slower than the compilers, so not a part of `npm test`.
 * `npm run tidy -- [FILE…]`.
 * @module
 */
import { cppSources } from "./runners.mjs";
import { buildFolder, buildNative } from "./build.mjs";
import { cores, run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  await setup("tidy");
  // Configured and built, so that its compile commands are complete and current.
  await buildNative("native-fuzz", ["sluice_core"]);
  const chosen = process.argv.slice(2);
  const files = chosen.length > 0 ? chosen : cppSources(["wasm/src"]).filter((path) => path.endsWith(".cpp"));
  let failed = 0;
  const worker = async () => {
    for (let file = files.shift(); file !== undefined; file = files.shift()) {
      const { code } = await run("clang-tidy", ["-p", buildFolder("native-fuzz"), "--quiet", file], {
        show: "failure",
      });
      console.log(`${code === 0 ? "ok" : "FAILED"}: ${file}`);
      if (code !== 0) failed += 1;
    }
  };
  await Promise.all(Array.from({ length: cores }, worker));
  return failed === 0 ? 0 : 1;
});
