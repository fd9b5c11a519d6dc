/**
 * An MCP server with a tool for each kind of result: `image`, `pdf`, `csv`, `error` and `several`.
 * @module
 */
import { createInterface } from "node:readline";
import { makePdf } from "../../demo/pdf.mjs";
import { makePng } from "../../demo/png.mjs";

const image = (seed) => ({
  type: "image",
  mimeType: "image/png",
  data: makePng({ width: 200, height: 100, seed }).toString("base64"),
});

const file = (name, mimeType, bytes) => ({
  type: "resource",
  resource: { uri: `file:///${name}`, mimeType, blob: Buffer.from(bytes).toString("base64") },
});

const text = (value) => ({ type: "text", text: value });

const row = (_, id) => `${id},row ${id},${id / 2}`;
const csv = ["id,name,value", ...Array.from({ length: 2000 }, row)].join("\n");

/** What each tool answers. */
const RESULTS = {
  image: { content: [image(1)] },
  pdf: { content: [file("report.pdf", "application/pdf", makePdf())] },
  csv: { content: [text(csv)] },
  error: { content: [text("The page did not load; the screen at the time:"), image(2)], isError: true },
  several: { content: [text("Two pictures and a file:"), image(3), image(4), file("rows.csv", "text/csv", csv)] },
};

const tools = Object.keys(RESULTS).map((name) => ({ name, inputSchema: { type: "object" } }));

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function answer({ id, method, params }) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    send({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "kinds", version: "1" } },
    });
  } else if (method === "tools/list") send({ id, result: { tools } });
  else if (method === "tools/call") send({ id, result: RESULTS[params.name] });
  else if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
}

createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line)));
