/**
 * Calls the fixture's tool for large files through the built library into a file store, and prints what was stored and by
 * how many bytes the process grew at most.
 *
 * node memory-program.mjs LIBRARY FOLDER BYTES TRANSPORT WHERE   WHERE: the server's script, or its address
 */
import { pathToFileURL } from "node:url";

const [library, folder, bytes, transport, where] = process.argv.slice(2);
const imported = (path) => import(new URL(path, pathToFileURL(`${library}/`)).href);
const { createSluice, FileArtifactStore } = await imported("node.js");
const { mcpSource } = await imported("tools/sources/mcp/http.js");
const { mcpStdioSource } = await imported("tools/sources/mcp/stdio.js");

const store = new FileArtifactStore(folder);
const terms = { name: "fix", store, sluice: await createSluice({ store }) };
const source =
  transport === "stdio"
    ? mcpStdioSource({ ...terms, argv: [process.execPath, where] })
    : mcpSource({ ...terms, url: where });
const signal = new AbortController().signal;
const connection = await source.open({ authorize: async () => ({}), signal, onNotice: () => {} });

let peak = 0;
const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 2);
const large = async (size) => {
  const call = { tool: "large", args: { bytes: size }, dialect: "observation", keepOriginal: 0, scope: {}, signal };
  const { gated } = await connection.call(call);
  const reduced = await gated.answer();
  await gated[Symbol.asyncDispose]();
  return reduced;
};

await large(8_000_000); // what the first use loads and compiles is not what is asked
peak = 0;
const before = process.memoryUsage.rss();
const reduced = await large(Number(bytes));
const growth = Math.max(peak, process.memoryUsage.rss()) - before;
clearInterval(timer);
await connection[Symbol.asyncDispose]();
process.stdout.write(JSON.stringify({ text: reduced.text, artifacts: reduced.artifacts, growth }));
