/**
 * `npm run bench`: sets up, builds, measures. `npm run bench:proxy`: the same for the proxy and the transports;
 * `npm run bench:tools`: for ToolNode; `npm run bench:files`: for users' files by their number; `npm run bench:site`: for the playground; `npm run bench:serve`: for `sluice serve`;
 * `npm run bench:package`: for what `npx` fetches; `npm run bench:hosts`: for what the models of hosts get;
 * `npm run bench:query`: for languages to ask tables in; `npm run bench:tasks`: for what tasks over results cost a model. Arguments go to
 * scripts/bench/main.mjs, or to that of the folder.
 * @module
 */
import { build } from "./build.mjs";
import { run } from "./run.mjs";
import { main, setup } from "./setup.mjs";

const FOLDERS = ["proxy", "files", "hosts", "serve", "site", "tools", "package", "query", "tasks"];

await main(async () => {
  const [first, ...rest] = process.argv.slice(2);
  const folder = FOLDERS.find((name) => name === first);
  // The SDKs that the proxy is compared with, and Chromium, are installed for the tests.
  await setup(folder === "proxy" || folder === "hosts" || folder === "site" ? "test" : "build");
  await build();
  const script =
    folder === undefined
      ? ["scripts/bench/main.mjs", ...process.argv.slice(2)]
      : [`scripts/bench/${folder}/main.mjs`, ...rest];
  const { code } = await run(process.execPath, ["--expose-gc", ...script], { show: "own" });
  return code;
});
