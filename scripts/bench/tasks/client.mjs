/**
 * The servers of the tasks, as they are and behind `sluice proxy`.
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../run.mjs";
import { connect } from "../client.mjs";

const FILESYSTEM = join(root, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const ATTACHMENTS = fileURLToPath(new URL("server.mjs", import.meta.url));
const COMMAND = join(root, "dist/cli/main.js");

/** How each server is started over a folder. */
const SERVERS = {
  filesystem: (folder) => [FILESYSTEM, folder],
  attachments: (folder) => [ATTACHMENTS, folder],
};

/** A server as it is. */
export const plain = (server, folder) => connected(SERVERS[server](folder));

/** The same behind `sluice proxy`, which stores in the folder `store`. `command` is the file of the command, if it is not the checkout's. */
export const proxied = (server, folder, store, command = COMMAND) =>
  connected([
    command,
    "proxy",
    "--store",
    store,
    "--namespace",
    server,
    "--",
    process.execPath,
    ...SERVERS[server](folder),
  ]);

async function connected(args) {
  const client = await connect(args);
  return { ...client, call: async (name, given) => shown(await client.call(name, given)) };
}

/** What a host shows a model of a result: its blocks, texts as they are, the bytes of the others as base64. */
function shown({ content, isError }) {
  const texts = content.map((block) => block.text ?? block.resource?.text ?? JSON.stringify(block));
  return { text: texts.join("\n"), isError: isError === true };
}
