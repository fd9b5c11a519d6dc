/** For runtimes that have a standard output: Node, Bun, Deno. */
import { smoke } from "./smoke.js";

console.log(JSON.stringify(await smoke()));
