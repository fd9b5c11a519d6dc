/**
 * A small MCP server over stdio: an archive of temperatures.
 * @module
 */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const HOURS = 365 * 24;

serveStdio(() => {
  const server = new McpServer({ name: "archive", version: "1.0.0" });
  server.registerTool(
    "readings",
    {
      description: "Last year's temperatures of a city, one for each hour, as CSV with the columns hour and celsius.",
      inputSchema: z.object({ city: z.string() }),
      annotations: { readOnlyHint: true },
    },
    () => ({ content: [{ type: "text", text: readings() }] }),
  );
  return server;
});

/** Cold in winter and at night, and with a hot day in July. The same for each city, and each time. */
function readings() {
  const rows = Array.from({ length: HOURS }, (_, hour) => {
    const time = new Date(Date.UTC(2025, 0, 1, hour));
    const season = -Math.cos((2 * Math.PI * hour) / HOURS) * 11;
    const daytime = -Math.cos((2 * Math.PI * time.getUTCHours()) / 24) * 4;
    const heat = time.toISOString().startsWith("2025-07-18") ? 6 : 0;
    return `${time.toISOString().slice(0, 16)},${(6 + season + daytime + heat).toFixed(1)}`;
  });
  return ["hour,celsius", ...rows, ""].join("\n");
}
