/**
 * Real sources for the command: reference servers as processes, an HTTP API with its manual, servers of a few lines.
 * @module
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import type { ExternalToolConfig } from "../../../../web/src/tools/config/config.js";
import { api, manual, sendJson, type Handler } from "../../tools/sources/api.js";
import { serverScript, type ScriptDeps } from "../../tools/sources/mcp/server-script.js";
import { ROOT, type Room } from "../command.js";

const require = createRequire(join(ROOT, "package.json"));
const node = JSON.stringify(process.execPath);

function entry(name: string): string {
  return JSON.stringify(require.resolve(`@modelcontextprotocol/${name}/dist/index.js`));
}

/** The reference server with every kind of tool and resource. */
export const everything: ExternalToolConfig = {
  name: "every",
  transport: "mcp",
  connection: `${node} ${entry("server-everything")} stdio`,
};

/** The reference server for files, in a folder. */
export function filesIn(folder: string): ExternalToolConfig {
  return {
    name: "files",
    transport: "mcp",
    connection: `${node} ${entry("server-filesystem")} ${JSON.stringify(folder)}`,
  };
}

/** Nobody listens there. */
export const down: ExternalToolConfig = { name: "down", transport: "mcp", connection: "http://127.0.0.1:1/mcp" };

/** Wants a variable that no environment has. */
export const unset: ExternalToolConfig = {
  name: "unset",
  transport: "mcp",
  connection: "http://127.0.0.1:1/mcp",
  auth_type: "bearer",
  auth_config: { token: "${SLUICE_TEST_UNSET_TOKEN}" },
};

/** An HTTP API with two tools and a UTCP manual: `map` and `echo`. */
export async function weather(handle: Handler): Promise<ExternalToolConfig> {
  const server = await api((request, response) => {
    if (request.path !== "/utcp") {
      handle(request, response);
      return;
    }
    const inputs = { type: "object", properties: { city: { type: "string" } } };
    sendJson(
      response,
      manual({
        map: { url: `${server.origin}/map`, http_method: "GET", inputs, description: "A map\nof the weather" },
        echo: { url: `${server.origin}/echo`, http_method: "GET", inputs },
      }),
    );
  });
  return {
    name: "weather",
    transport: "utcp",
    connection: `${server.origin}/utcp`,
    retry_policy: { wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 },
  };
}

/** An MCP server of a few lines, as a file in the room. */
export async function scripted(room: Room, terms: ScriptDeps): Promise<ExternalToolConfig> {
  const file = await room.write("server.mjs", serverScript(terms));
  return { name: "scripted", transport: "mcp", connection: `${node} ${JSON.stringify(file)}` };
}

/** Writes a file of sources, and gives the option that names it. */
export async function configOf(room: Room, ...sources: readonly ExternalToolConfig[]): Promise<readonly string[]> {
  return ["--config", await room.write("sources.json", JSON.stringify({ sources }))];
}
