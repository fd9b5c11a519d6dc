/** Every operation of the document is called at a real server, and answered as the document says. */
import { expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { listen, type SluiceServer } from "../../../../web/src/serve.js";
import { calling, doing, modelOf } from "../chat/chatting.js";
import { program, served } from "../sources/serving.js";
import type { Told } from "../sources/told.js";
import { Visitor } from "../visitor.js";
import { type Asked, Description } from "./openapi.js";

/** Something that is called, and what has to be answered. */
interface Step extends Asked {
  readonly id: string;
  readonly status: number;
  /** Of a stream that lasts: the kind of event after which the client leaves. */
  readonly until?: string;
}

const METRICS_TOKEN = "token-of-a-scrape";
const URI = "test://static-text";
const ASKING = "lab.test_input_required_result_elicitation";

/** A server that has everything there is. */
async function everything(): Promise<{
  readonly server: SluiceServer;
  readonly visitor: Visitor;
  readonly description: Description;
}> {
  const sources = [program("lab")];
  const ask = doing("ask", async (_, { pause }) => String(await pause("await_input", { question: "Which?" })));
  const { server } = served({
    authenticate: () => ({ user_id: "ada" }),
    sources,
    filesStore: new MemoryArtifactStore(),
    llm: modelOf(calling("ask", "lab_test_image_content")),
    tools: [ask],
    metrics: { token: METRICS_TOKEN },
  });
  const listening = await listen(server, { host: "127.0.0.1", port: 0 });
  onTestFinished(() => listening[Symbol.asyncDispose]());
  return { server, visitor: await Visitor.at(listening.port), description: await Description.of(server) };
}

test("every operation is answered as the document says", { timeout: 60_000 }, async () => {
  const { server, visitor, description } = await everything();
  const seen = new Set<string>();

  async function call({ id, status, until, ...asked }: Step): Promise<{ value: unknown; headers: Headers }> {
    const [path, init] = description.request(id, asked);
    const response = await (id.endsWith("RawMcp") ? visitor.askAsPage(path, init) : visitor.ask(path, init));
    const value = await description.answered(id, response, until);
    expect([id, response.status, value]).toEqual([id, status, value]);
    seen.add(`${id} ${status}`);
    return { value, headers: response.headers };
  }
  const toldBy = async (step: Step): Promise<readonly Told[]> => (await call(step)).value as readonly Told[];
  const last = (told: readonly Told[]): Told => told.at(-1) as Told;

  const document = await call({ id: "describeServer", status: 200 });
  const known = { "If-None-Match": document.headers.get("etag") ?? "" };
  await call({ id: "describeServer", status: 304, headers: known });
  await call({ id: "checkHealth", status: 200 });
  await call({ id: "checkReadiness", status: 200 });
  await call({ id: "showMetrics", status: 401 });
  const scrape = new Request("http://127.0.0.1/metrics", { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const scraped = await server.fetch(scrape);
  expect(await description.answered("showMetrics", scraped)).toContain("# TYPE ");
  seen.add("showMetrics 200");
  await call({ id: "beginSession", status: 201, body: {} });
  await call({ id: "showSession", status: 200, path: { id: "current" } });
  await call({ id: "showSession", status: 404, path: { id: "another" } });
  await call({ id: "showUsage", status: 200 });

  // Bytes go in, and come out whole, in part, or not at all.
  const query = { filename: "a.txt", namespace: "mine", trace: "t" };
  const stored = await call({ id: "uploadArtifact", status: 201, query, body: "hello" });
  const path = { id: (stored.value as { artifact: { id: string } }).artifact.id };
  expect(stored.headers.get("location")).toBe(`/artifacts/${path.id}?trace=t`);
  const trace = { trace: "t" };
  const listed = await call({ id: "listArtifacts", status: 200, query: trace });
  expect(listed.value).toMatchObject({ artifacts: [path] });
  await call({ id: "describeArtifact", status: 200, path, query: trace });
  const whole = await call({ id: "readArtifact", status: 200, path, query: { ...trace, download: "" } });
  const tag = whole.headers.get("etag") ?? "";
  const range = { Range: "bytes=0-1" };
  expect((await call({ id: "readArtifact", status: 206, path, query: trace, headers: range })).value).toBe("he");
  await call({ id: "readArtifact", status: 304, path, query: trace, headers: { "If-None-Match": tag } });
  await call({ id: "readArtifact", status: 412, path, query: trace, headers: { "If-Match": '"x"' } });
  await call({ id: "readArtifact", status: 416, path, query: trace, headers: { Range: "bytes=9-" } });
  await call({ id: "deleteArtifact", status: 204, path, query: trace });
  await call({ id: "readArtifact", status: 410, path, query: trace });
  await call({ id: "readArtifact", status: 404, path: { id: "mine_0123456789ab" } });

  const put = await call({ id: "uploadFile", status: 201, query: { filename: "f.csv" }, body: "a,b\n1,2\n" });
  const file = { id: (put.value as { file: { id: string } }).file.id };
  await call({ id: "listFiles", status: 200, query: { limit: "1" } });
  await call({ id: "readFile", status: 200, path: file });
  await call({ id: "readFile", status: 206, path: file, headers: range });
  const { headers } = await call({ id: "readFile", status: 200, path: file, query: { download: "1" } });
  await call({ id: "readFile", status: 304, path: file, headers: { "If-None-Match": headers.get("etag") ?? "" } });
  await call({ id: "describeFile", status: 200, path: file });
  await call({ id: "listFileVersions", status: 200, path: file });
  await call({ id: "renameFile", status: 200, path: file, body: { filename: "g.csv" } });
  await call({ id: "deleteFile", status: 204, path: file });

  // A source: its tools, its questions, its resources.
  await call({ id: "listSources", status: 200 });
  const lab = { name: "lab" };
  expect(last(await toldBy({ id: "connectSource", status: 200, path: lab })).kind).toBe("connected");
  await call({ id: "listTools", status: 200 });
  const image = { path: { name: "lab.test_image_content" }, body: {} };
  const json = { Accept: "application/json" };
  await call({ id: "callTool", status: 200, ...image, headers: json });
  const progress = { path: { name: "lab.test_tool_with_progress" }, body: { args: {}, timeout_seconds: 30 } };
  const told = await toldBy({ id: "callTool", status: 200, ...progress });
  expect([told.some(({ kind }) => kind === "tool_progress"), last(told).kind]).toEqual([true, "result"]);
  await call({ id: "callTool", status: 404, path: { name: "lab.none" }, body: {}, headers: json });
  const [asking, init] = description.request("callTool", { path: { name: ASKING }, body: {} });
  const calls = (await visitor.ask(asking, init)).body?.tee();
  if (calls === undefined) throw new Error("no events");
  const answerTo = (body: BodyInit): Response =>
    new Response(body, { headers: { "content-type": "text/event-stream" } });
  const paused = last((await description.answered("callTool", answerTo(calls[0]), "paused")) as Told[]);
  const pause = { pause: paused["pause"] as string };
  await call({ id: "answerPause", status: 204, path: pause, body: { answer: { name: "Ada" } } });
  const whatCame = (await description.answered("callTool", answerTo(calls[1]))) as Told[];
  expect(last(whatCame)).toMatchObject({ kind: "result", observation: '"Hello, Ada!"' });
  await call({ id: "answerPause", status: 404, path: pause, body: { answer: null } });
  const asked = { call: paused["call"] as string };
  expect(last(await toldBy({ id: "followCall", status: 200, path: asked })).kind).toBe("result");
  await call({ id: "followCall", status: 404, path: { call: "none" } });

  const namespace = { namespace: "lab" };
  await call({ id: "listResources", status: 200, path: namespace });
  await call({ id: "listResourceTemplates", status: 200, path: namespace });
  const variable = { template: "test://template/{id}/data", variable: "id", value: "1" };
  await call({ id: "completeTemplate", status: 200, path: namespace, query: variable });
  const resource = { ...namespace, uri: URI };
  await call({ id: "readResource", status: 200, path: resource });
  await call({ id: "readResource", status: 200, path: { ...namespace, uri: "test://static-binary" }, query: trace });
  await call({ id: "subscribeResource", status: 204, path: resource });
  await call({ id: "unsubscribeResource", status: 204, path: resource });
  await call({ id: "listResources", status: 404, path: { namespace: "none" } });

  // Runs of the chat: one that waits for a person and goes on, and one that is given up.
  const started = await toldBy({ id: "startRun", status: 200, body: { query: "Go.", trace: "t" } });
  expect([started[0]?.kind, last(started).kind]).toEqual(["run_started", "pause"]);
  const token = last(started)["resume_token"];
  const resumed = await toldBy({ id: "resumeRun", status: 200, body: { resume_token: token, answer: "a" } });
  expect([resumed[0]?.kind, last(resumed).kind]).toEqual(["run_resumed", "result"]);
  await call({ id: "resumeRun", status: 404, body: { resume_token: token, answer: "a" } });
  const run = { run: started[0]?.["run"] as string };
  expect(last(await toldBy({ id: "followRun", status: 200, path: run })).kind).toBe("result");
  await call({ id: "cancelRun", status: 204, path: run });
  await call({ id: "followRun", status: 404, path: { run: "none" } });

  // MCP, for any client and for the page.
  const source = { source: "lab" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  const both = { Accept: "application/json, text/event-stream" };
  const ready = { jsonrpc: "2.0", method: "notifications/initialized" };
  for (const name of ["Mcp", "RawMcp"]) {
    const welcome = await call({ id: `send${name}`, status: 200, path: source, body: hello, headers: both });
    const own = {
      "Mcp-Session-Id": welcome.headers.get("mcp-session-id") ?? "",
      "Mcp-Protocol-Version": "2025-11-25",
    };
    await call({ id: `send${name}`, status: 202, path: source, body: ready, headers: { ...own, ...both } });
    const [listenPath, listenInit] = description.request(`listen${name}`, {
      path: source,
      headers: { ...own, ...both },
    });
    const listening = await (name === "Mcp"
      ? visitor.ask(listenPath, listenInit)
      : visitor.askAsPage(listenPath, listenInit));
    expect([listening.status, listening.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    await listening.body?.cancel();
    seen.add(`listen${name} 200`);
    await call({ id: `end${name}`, status: 200, path: source, headers: own });
  }

  // A person who comes back from nowhere; what happened meanwhile; the end.
  expect((await call({ id: "takeConsent", status: 400, query: { state: "x", code: "y" } })).value).toContain("<h1>");
  const events = await toldBy({ id: "followSession", status: 200, until: "files_changed" });
  expect(events.map(({ kind }) => kind)).toContain("artifact_stored");
  await call({ id: "endSession", status: 200, path: { id: "current" } });
  await call({ id: "listArtifacts", status: 401 });

  const all = description.operations.map(({ operationId }) => operationId);
  const driven = new Set([...seen].map((each) => each.split(" ", 1)[0] ?? ""));
  expect([...driven].toSorted()).toEqual(all.toSorted());
  // Each of an operation's own answers was had: refusals are those that the document has in one place.
  const answers = description.operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, { $ref }]) => ($ref === undefined ? [`${operationId} ${status}`] : [])),
  );
  const rest = answers.filter((each) => !seen.has(each) && !/^(?:takeConsent|check\w+) /.test(each));
  expect(rest).toEqual([]);
});
