/** For runtimes that have a standard output: Node, Bun, Deno. */
import { readDocuments } from "./documents.js";
import { smoke } from "./smoke.js";

console.log(JSON.stringify({ ...(await smoke()), documents: await readDocuments() }));
