/**
 * A client that only speaks MCP, in a session of a server: message by message, so that a test sees what was sent.
 * @module
 */
import type { Visitor } from "../visitor.js";

/** The revision that it speaks: up to 2025-11-25 with `initialize`, or 2026-07-28. */
export type Era = "2025" | "2026";

type Message = Readonly<Record<string, unknown>>;

const BOTH = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const PREFIX = "io.modelcontextprotocol/";

/** What it sends, and what comes back as text. */
export interface McpTestClient {
  /** Sends a request, and gives everything that is answered to it. */
  readonly ask: (source: string, method: string, params?: Message) => Promise<string>;
  /** Calls a tool; gives everything that is answered. */
  readonly call: (source: string, tool: string, args?: Message) => Promise<string>;
  /** The messages that are answered to a request. */
  readonly messages: (source: string, method: string, params?: Message) => Promise<readonly Message[]>;
}

/** Speaks MCP at `mcp/{source}` or, as the page, at `raw/{source}`. */
export async function mcpClient(
  by: Visitor,
  way: "mcp" | "raw",
  era: Era,
  capabilities: Message = {},
): Promise<McpTestClient> {
  const sessions = new Map<string, Readonly<Record<string, string>>>();
  let id = 0;
  const post = (source: string, message: Message, headers: Readonly<Record<string, string>>): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    // As clients send it: a body of unknown length counts as large.
    const length = { "content-length": String(Buffer.byteLength(body)) };
    const init = { method: "POST", body, headers: { ...BOTH, ...length, ...headers } };
    return way === "raw" ? by.askAsPage(`/raw/${source}`, init) : by.ask(`/mcp/${source}`, init);
  };
  /** The headers of what follows, or what it was refused with. */
  const begun = async (source: string): Promise<Readonly<Record<string, string>> | string> => {
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo };
    const answer = await post(source, { id: 0, method: "initialize", params }, {});
    const said = await answer.text();
    if (!said.includes('"serverInfo"')) return said;
    const session = answer.headers.get("mcp-session-id") ?? "";
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
    await post(source, { method: "notifications/initialized" }, headers);
    return headers;
  };
  const ask: McpTestClient["ask"] = async (source, method, params = {}) => {
    id += 1;
    if (era === "2025") {
      const headers = sessions.get(source) ?? (await begun(source));
      if (typeof headers === "string") return headers;
      sessions.set(source, headers);
      return (await post(source, { id, method, params }, headers)).text();
    }
    const name =
      typeof params["name"] === "string"
        ? params["name"]
        : typeof params["uri"] === "string"
          ? params["uri"]
          : undefined;
    const headers = {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": name }),
    };
    const meta = {
      [`${PREFIX}protocolVersion`]: "2026-07-28",
      [`${PREFIX}clientCapabilities`]: capabilities,
      [`${PREFIX}clientInfo`]: { name: "test", version: "1" },
    };
    return (await post(source, { id, method, params: { ...params, _meta: meta } }, headers)).text();
  };
  return {
    ask,
    call: (source, tool, args = {}) => ask(source, "tools/call", { name: tool, arguments: args }),
    messages: async (source, method, params) => messagesIn(await ask(source, method, params)),
  };
}

/** The messages in an answer, which is JSON or events. */
function messagesIn(text: string): readonly Message[] {
  if (text.startsWith("{")) return [JSON.parse(text) as Message];
  const data = text.split("\n").filter((line) => line.startsWith("data: {"));
  return data.map((line) => JSON.parse(line.slice(6)) as Message);
}
