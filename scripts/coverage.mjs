/**
 * Coverage: of the core by its C++ tests (llvm-cov), of the library and its command by theirs (V8). A table for each,
 * pages in coverage/, and one line that says how much; fails below the share of lines that is wanted.
 * @module
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { coverCore } from "./coverage/core.mjs";
import { percent, printTable, reaches, total } from "./coverage/table.mjs";
import { root } from "./run.mjs";
import { main, setup } from "./setup.mjs";

/** Percent of the lines that tests have to run, on either side. */
const WANTED = 90;

await main(async () => {
  await setup("coverage");
  // Uses packages, which may not be there before.
  const { coverLibrary } = await import("./coverage/library.mjs");
  await build();
  rmSync(join(root, "coverage"), { recursive: true, force: true });
  const told = [];
  const faults = [];
  for (const [name, cover] of Object.entries({ core: coverCore, library: coverLibrary })) {
    console.log(`\n── ${name}`);
    const { files, failed } = await cover(join(root, "coverage", name));
    printTable(files);
    told.push(`${name} ${percent(total(files))}`);
    if (failed) faults.push(`tests of the ${name} failed, as shown above`);
    if (!reaches(total(files), WANTED)) faults.push(`less than ${WANTED} % of the ${name}`);
  }
  console.log(`\n${told.join(", ")} of lines`);
  for (const fault of faults) console.log(`FAILED: ${fault}`);
  return faults.length > 0 ? 1 : 0;
});
