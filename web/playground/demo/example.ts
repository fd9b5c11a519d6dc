/**
 * The example that a first visit begins with: a tool of the demo, and a `fetch` that answers a call of it. Neither the protocol's library nor
 * the other tools are needed: those are loaded behind its result.
 * @module
 */
import { base64 } from "../base64.js";
import { QUARTERS, YEAR } from "./sales.js";
import { type DemoCall, type DemoTool, demoTool, toTextResult } from "./tool.js";

/** The URL of the demo server, on a reserved domain (RFC 6761). */
export const DEMO_URL = "https://demo.sluice.invalid/mcp";

/** The tool. */
export const SALES_REPORT: DemoTool = demoTool({
  name: "sales_report",
  title: "Sales report (PDF)",
  description: "A quarter's sales report: a PDF of 4 MB as base64 in JSON in a text block, as many servers send files.",
  fields: {
    quarter: { type: "string", title: "Quarter", description: `Of ${YEAR}.`, enum: QUARTERS, default: "Q3" },
  },
  run: async ({ quarter }) => {
    const { reportTitle, salesReport } = await import("./report.js");
    const name = `${reportTitle(quarter).toLowerCase().replaceAll(" ", "-")}.pdf`;
    return toTextResult(JSON.stringify({ name, format: "pdf", content: base64(salesReport(quarter)) }));
  },
});

/** The id of a call of it. */
export const EXAMPLE_ID = 0;

const [BEGIN, END] = [`{"jsonrpc":"2.0","id":${EXAMPLE_ID},"result":`, "}"];

/** Characters that are encoded at once: of a text of 5 MB as one, browsers make as many bytes in four times the time. */
const PIECE = 65_536;

/** Answers one `tools/call` of that tool without a session, as servers do that keep none. */
export const fetchExample: typeof globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const { params } = (await request.json()) as { params: { arguments: Readonly<Record<string, unknown>> } };
  const call: DemoCall = {
    signal: request.signal,
    progress: async () => {},
    ask: () => Promise.reject(new Error("This call has no session to ask through.")),
  };
  const text = BEGIN + JSON.stringify(await SALES_REPORT.call(params.arguments, call)) + END;
  const encoder = new TextEncoder();
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(stream) {
      stream.enqueue(encoder.encode(text.slice(at, at + PIECE)));
      at += PIECE;
      if (at >= text.length) stream.close();
    },
  });
  return new Response(body, { headers: { "content-type": "application/json" } });
};

/** The result in that answer, as JSON text: what stands around it is known, so that 5 MB need not be parsed. */
export async function* readExample({ body }: Response): AsyncGenerator<Uint8Array> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  let before = BEGIN.length;
  let held = new Uint8Array();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    yield held;
    held = next.value.slice(before);
    before = 0;
  }
  yield held.subarray(0, held.length - END.length);
}
