/**
 * The checks of the sources alone: types, lint, format.
 * @module
 */
import { checks } from "./runners.mjs";
import { main, setup } from "./setup.mjs";

await main(async () => {
  await setup("test");
  return (await checks()).failed === 0 ? 0 : 1;
});
