/**
 * Long runs of the fuzzers: `npm run fuzz -- [TARGET…] [--seconds N]`.
 * @module
 */
import { parseArgs } from "node:util";
import { buildNative } from "./build.mjs";
import { fuzz, fuzzTargets } from "./runners.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seconds: { type: "string", default: "600" } },
  });
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1) throw new Error("--seconds takes a whole number from 1 on.");
  const all = fuzzTargets();
  const unknown = positionals.filter((target) => !all.includes(target));
  if (unknown.length > 0) throw new Error(`No fuzzer is called ${unknown.join(", ")}: choose from ${all.join(", ")}.`);
  const targets = positionals.length > 0 ? positionals : all;
  await setup("test");
  const preset = "native-fuzz";
  await buildNative(
    preset,
    targets.map((target) => `${target}_fuzz`),
  );
  let failed = 0;
  for (const target of targets) {
    console.log(`\n── ${target}, ${seconds} s`);
    // Another seed each time: a long run is for finding what the short ones cannot.
    const { code } = await fuzz(target, { preset, seconds, seed: 0 });
    if (code !== 0) failed += 1;
  }
  return failed === 0 ? 0 : 1;
});
