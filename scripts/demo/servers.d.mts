import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
/** Starts the demo's servers, `filesystem` on `folder`. */
export function startServers(folder: string): Promise<{ tableau: Client; everything: Client; filesystem: Client }>;
