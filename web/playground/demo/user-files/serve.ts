/**
 * A second demo server within the page, whose tools take and make the files of My Files. Loaded when somebody connects it.
 * @module
 */
import { Server } from "@modelcontextprotocol/server";
import { addTools } from "../server.js";
import { demoFetch } from "../serve.js";
import { USER_FILE_TOOLS } from "./tools.js";

/** Where it is; nothing is there on any network (RFC 6761). */
const URL_OF_FILES = "https://files.sluice.invalid/mcp";

/** How it is spoken to. */
export function fileDemo(): { readonly url: string; readonly fetch: typeof globalThis.fetch } {
  return { url: URL_OF_FILES, fetch: demoFetch(URL_OF_FILES, fileServer) };
}

function fileServer(): Server {
  const server = new Server(
    { name: "sluice-files-demo", title: "Demo server for user files", version: "1" },
    { capabilities: { tools: {} }, instructions: "Tools that take files by their names, and make files." },
  );
  addTools(server, USER_FILE_TOOLS);
  return server;
}
