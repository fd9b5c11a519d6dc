/**
 * One question, three kinds of tools, and a model that never sees what is large.
 * @module
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { humanSize } from "mcp-sluice";
import { FileArtifactStore } from "mcp-sluice/node";
import { ReactPlanner, tool } from "mcp-sluice/planner";
import { ToolNode } from "mcp-sluice/tools";
import { z } from "zod";
import { serveCamera } from "./camera-api.mjs";
import { chooseModel } from "./model.mjs";

const query = process.argv[2] ?? "Which day was the warmest in Oslo last year? Take a photo there, too.";
const folder = process.env["ARTIFACTS"] ?? join(tmpdir(), "sluice-multi-tool-agent");
const store = new FileArtifactStore(folder);

// 1. An MCP server that is a program. It answers with a year's readings, as CSV.
const program = join(import.meta.dirname, "archive-server.mjs");
const connection = `"${process.execPath}" "${program}"`;
const archive = new ToolNode({ name: "archive", transport: "mcp", connection }, { store });

// 2. An API, whose tools are made of its OpenAPI description. It answers with a picture.
const api = await serveCamera();
const camera = new ToolNode({ name: "camera", transport: "http", connection: `${api.url}/openapi.json` }, { store });

// 3. A function of ours. The model passes an artifact that it never read, and the function gets the text.
const warmestDay = tool({
  name: "warmest_day",
  description: "Finds the warmest day in a year's readings.",
  input: z.object({
    readings: z.string().meta({ contentMediaType: "text/csv", description: "Readings of the archive, artifact://ID" }),
  }),
  sideEffects: "read",
  run: ({ readings }) => {
    const rows = readings.trim().split("\n").slice(1);
    const warmest = rows.map((row) => row.split(",")).reduce((a, b) => (Number(b[1]) > Number(a[1]) ? b : a));
    return { day: warmest[0]?.slice(0, 10), celsius: Number(warmest[1]) };
  },
});

await Promise.all([archive.connect(), camera.connect()]);
const { llm, name } = chooseModel();
console.log(`model: ${name}\nquestion: ${query}\n`);

const planner = new ReactPlanner({
  catalog: [archive, camera, warmestDay],
  llm,
  artifactStore: store,
  // What the archive gave may be given to this function, and to nothing else.
  config: { interceptor: { share: [{ from: "archive", to: "native.warmest_day" }] } },
  onEvent: show,
});
try {
  const outcome = await planner.run(query);
  if (outcome.kind === "pause") throw new Error("None of these tools asks a person.");
  summarise(outcome.trajectory);
} finally {
  await Promise.all([archive.close(), camera.close()]);
  api.close();
}

/**
 * Prints what happens, as it happens; the model's words as they come.
 *
 * @param {import("mcp-sluice/planner").PlannerEvent} event
 */
function show(event) {
  if (event.kind === "text") process.stdout.write(event.text);
  else if (event.kind === "step_started") console.log(`step ${event.step}`);
  else if (event.kind === "tool_called") console.log(`  ${event.tool} is called`);
  else if (event.kind === "tool_answered")
    console.log(`  ${event.tool} answered: the model sees ${event.chars} characters`);
  else if (event.kind === "tool_failed") console.log(`  ${event.tool} failed: ${event.error.message}`);
  else if (event.kind === "artifact_stored") {
    for (const { id, mime_type, size_bytes } of event.artifacts) {
      console.log(`  ${event.tool} stored ${id} (${mime_type}, ${humanSize(size_bytes)})`);
    }
  } else if (event.kind === "finished") console.log("\n");
}

/**
 * Says what was kept out of the conversation.
 *
 * @param {import("mcp-sluice/planner").Trajectory} trajectory
 */
function summarise({ steps }) {
  const calls = steps.flatMap((step) => step.calls);
  const stored = calls.flatMap((call) => call.artifacts).reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  const seen = calls.reduce((sum, { observation }) => sum + observation.length, 0);
  console.log(`stored: ${stored} bytes; seen by the model: ${seen} characters`);
  console.log(`They are files now: npx sluice artifacts list --store "${folder}"`);
}
