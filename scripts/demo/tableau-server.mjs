/**
 * A small MCP server over stdio that answers as a real Tableau server does:
 * whole PDFs as base64 inside JSON.
 * @module
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { makePdf } from "./pdf.mjs";

const workbooks = [
  { id: "123", name: "Sales", project: "Analytics" },
  { id: "456", name: "Marketing", project: "Analytics" },
];

const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const string = (description) => ({ type: "string", description });

const tools = {
  download_workbook: {
    description: "Downloads a workbook as a file.",
    inputSchema: { type: "object", properties: { name: string("The workbook's name.") }, required: ["name"] },
    call: ({ name }) => text({ content: makePdf({ title: name }).toString("base64"), name, format: "pdf" }),
  },
  get_view_as_pdf: {
    description: "Renders one view as a PDF.",
    inputSchema: { type: "object", properties: { view_name: string("The view's name.") }, required: ["view_name"] },
    outputSchema: {
      type: "object",
      properties: { pdf_data: string("base64"), view_name: { type: "string" }, generated_at: { type: "string" } },
      required: ["pdf_data", "view_name", "generated_at"],
    },
    call: ({ view_name }) => {
      const pdf_data = makePdf({ title: view_name, pages: 1, seed: 7 }).toString("base64");
      const structuredContent = { pdf_data, view_name, generated_at: "2025-12-22T10:30:00Z" };
      return { ...text(structuredContent), structuredContent };
    },
  },
  list_workbooks: {
    description: "Lists the workbooks.",
    inputSchema: { type: "object", properties: {} },
    call: () => text({ workbooks }),
  },
};

function callTool({ params }) {
  const tool = Object.hasOwn(tools, params.name) ? tools[params.name] : undefined;
  if (tool === undefined) return { ...text(`There is no tool ${params.name}.`), isError: true };
  const missing = (tool.inputSchema.required ?? []).filter((key) => typeof params.arguments?.[key] !== "string");
  if (missing.length > 0) return { ...text(`${params.name} needs ${missing.join(", ")} as a string.`), isError: true };
  return tool.call(params.arguments ?? {});
}

const server = new Server({ name: "tableau", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.entries(tools).map(([name, { call, ...rest }]) => ({ name, ...rest })),
}));
server.setRequestHandler(CallToolRequestSchema, callTool);
await server.connect(new StdioServerTransport());
