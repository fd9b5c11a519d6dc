/**
 * Formats everything in place.
 * @module
 */
import { must, tool } from "./run.mjs";
import { main, setup } from "./setup.mjs";
import { cppSources } from "./runners.mjs";

await main(async () => {
  await setup("test");
  await must(tool("oxfmt"), ["."]);
  // Twice: clang-format 14 aligns comments behind wrapped ones only in a second pass.
  for (let pass = 0; pass < 2; pass += 1) await must("clang-format", ["-i", ...cppSources()]);
});
