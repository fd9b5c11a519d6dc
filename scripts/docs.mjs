/**
 * `npm run docs`: the documentation as a site in build/docs.
 * @module
 */
import { relative } from "node:path";
import { build } from "./build.mjs";
import { root } from "./run.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  await setup("build");
  await build();
  // TypeDoc is there only after the set-up.
  const { buildSite, SITE } = await import("./docs/site.mjs");
  const complete = await buildSite();
  console.log(complete ? `docs: open ${relative(root, SITE)}/index.html` : "docs: repair what is warned of above");
  return complete ? 0 : 1;
});
