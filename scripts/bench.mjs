/**
 * `npm run bench`: sets up, builds, measures. `npm run bench:doors`: the same for the proxy and the transports.
 * Arguments go to scripts/bench/main.mjs or scripts/bench/doors/main.mjs.
 * @module
 */
import { build } from "./build.mjs";
import { run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  const [first, ...rest] = process.argv.slice(2);
  const doors = first === "doors";
  // The SDKs that doors are compared with are installed for the tests.
  await setup(doors ? "test" : "build");
  await build();
  const script = doors
    ? ["scripts/bench/doors/main.mjs", ...rest]
    : ["scripts/bench/main.mjs", ...process.argv.slice(2)];
  const { code } = await run(process.execPath, ["--expose-gc", ...script], { show: "own" });
  return code;
});
