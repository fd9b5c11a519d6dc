/** Loads every entry of the package but those in the arguments, and tells how many names each has, or why it cannot be loaded. */
import { readFile } from "node:fs/promises";

const { exports } = JSON.parse(await readFile("node_modules/mcp-sluice/package.json", "utf8"));
const left = process.argv.slice(2);
const report = {};
for (const [path, target] of Object.entries(exports)) {
  if (typeof target === "string" || left.includes(path)) continue;
  report[path] = await import(`mcp-sluice${path.slice(1)}`).then((entry) => Object.keys(entry).length > 0, String);
}
console.log(JSON.stringify(report));
