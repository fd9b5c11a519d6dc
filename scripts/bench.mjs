/**
 * `npm run bench`: sets up, builds, measures the library. The same for other subjects: `npm run bench:calls`: 1,000 calls of real
 * results; `bench:shapes`: shapes of results, beside an earlier build; `bench:proxy`: the proxy and the transports; `bench:roofline`:
 * what the largest result takes at least; `bench:tools`: ToolNode; `bench:files`: users' files by their number; `bench:copy`: moving
 * a store; `bench:site`: the playground; `bench:serve`: `sluice serve`; `bench:package`: what `npx` fetches; `bench:start`: how long hosts wait;
 * `bench:query`: languages to ask tables in; `bench:pdf`: text of PDFs beside Poppler's; `bench:tasks`: what tasks over results cost a model; `bench:telemetry`: what spans and metrics cost. Arguments go to
 * scripts/bench/main.mjs, or to that of the folder.
 * @module
 */
import { build } from "./build.mjs";
import { run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

/** Folders below scripts/bench, and what each needs: the SDKs, the servers and Chromium are installed for the tests. */
const FOLDERS = {
  calls: "test",
  copy: "build",
  files: "build",
  package: "build",
  pdf: "build",
  proxy: "test",
  query: "build",
  roofline: "build",
  serve: "build",
  shapes: "build",
  site: "test",
  start: "build",
  tasks: "build",
  telemetry: "build",
  tools: "build",
};

await main(async () => {
  const [first, ...rest] = process.argv.slice(2);
  const folder = Object.hasOwn(FOLDERS, first) ? first : undefined;
  await setup(folder === undefined ? "build" : FOLDERS[folder]);
  await build();
  const script =
    folder === undefined
      ? ["scripts/bench/main.mjs", ...process.argv.slice(2)]
      : [`scripts/bench/${folder}/main.mjs`, ...rest];
  const { code } = await run(process.execPath, ["--expose-gc", ...script], { show: "own" });
  return code;
});
