/**
 * What a host does with tools, the same on a page and in a worker. Each answer is plain data.
 * @module
 */
import { violations } from "./violations.js";
import { MemoryArtifactStore } from "mcp-sluice";
import { ToolNode } from "mcp-sluice/tools";
import { consent, consentWhileCalling } from "./consent.js";

const answers = {
  call,
  giveUp,
  questions,
  resources,
  modern,
  inHeader,
  file,
  manual,
  variables,
  connect,
  moved,
  busy,
  consent,
  consentWhileCalling,
  violations: () => violations,
};

/** Answers, or says what went wrong. `openWindow` shows a person another page. */
export async function answer(question, terms, openWindow) {
  try {
    return await answers[question](terms, openWindow);
  } catch ({ name, code, category, message, status }) {
    return { name, code, category, message, status };
  }
}

/** A source, its store, and what it told. */
async function opened(config, options = {}) {
  const store = new MemoryArtifactStore();
  const events = [];
  const onEvent = (event) => events.push(event);
  const node = new ToolNode({ name: "far", ...config }, { store, onEvent, ...options });
  await node.connect();
  return { node, store, events };
}

/** What of a result is worth telling. */
async function seen({ text, value, artifacts, isError }, store) {
  const stored = await Promise.all(
    artifacts.map(async ({ id, mime_type, filename }) => ({
      mime_type,
      filename,
      sha256: await sha256(await store.get(id)),
    })),
  );
  return { isShort: text.length < 1000, value, isError, stored };
}

async function sha256(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function call({ url }) {
  const { node, store } = await opened({ transport: "mcp", connection: url });
  const progress = [];
  const onProgress = ({ progress: done, total }) => progress.push([done, total]);
  const result = await node.call("far.report", { year: 2026 }, { onProgress });
  const tools = node.getTools().map(({ name }) => name);
  await node.close();
  return { tools, progress, ...(await seen(result, store)) };
}

async function giveUp({ url }) {
  const { node } = await opened({ transport: "mcp", connection: url });
  const controller = new AbortController();
  const onProgress = () => controller.abort("no longer wanted");
  const thrown = await node.call("far.wait", {}, { signal: controller.signal, onProgress }).catch((reason) => reason);
  // The server answers once it has given up as well.
  const { value } = await node.call("far.given_up");
  await node.close();
  return { thrown, atServer: value };
}

/** A server that asks in the middle of a call. */
async function questions({ url }) {
  const { node } = await opened({ transport: "mcp", connection: url }, { sampling: true });
  const asked = [];
  const pause = async (_reason, { pause_type: type, message, messages }) => {
    asked.push(type === "sampling" ? messages[0].content.text : message);
    return type === "sampling" ? { text: "Good.", model: "a-model" } : { year: 2026 };
  };
  const { text } = await node.call("far.ask", {}, { pause });
  await node.close();
  return { asked, text };
}

async function resources({ url, note }) {
  let tell;
  const told = new Promise((resolve) => (tell = resolve));
  const onEvent = ({ kind, event }) => kind === "resource" && tell([event.kind, event.uri]);
  const { node, store } = await opened({ transport: "mcp", connection: url }, { onEvent });
  const uri = "note:///today";
  const { items } = await node.listResources();
  await node.subscribe(uri);
  const before = await node.readResource(uri);
  await node.call("far.write", { text: note });
  const event = await told;
  const after = await node.readResource(uri);
  const bytes = await node.readResource("file:///report.pdf");
  await node.unsubscribe(uri);
  await node.close();
  return {
    uris: items.map((item) => item.uri),
    texts: [before.contents[0].text, after.contents[0].text],
    event,
    kind: bytes.contents[0].kind,
    sha256: await sha256(await store.get(bytes.contents[0].id)),
  };
}

/** A server of the later era: what it tells comes over streams of answers, and a call is given up by closing its own. */
async function modern({ url }) {
  let tell;
  const told = new Promise((resolve) => (tell = resolve));
  const onEvent = ({ kind, event }) => kind === "resource" && tell([event.kind, event.uri]);
  const { node, store } = await opened({ transport: "mcp", connection: url }, { onEvent });
  const progress = [];
  const onProgress = ({ progress: done, total }) => progress.push([done, total]);
  await node.call("far.progress", { steps: 2 }, { onProgress });
  const bytes = await node.call("far.embedded_blob", { kind: "pdf", bytes: 200_000 });

  await node.subscribe("test://watched-resource");
  await node.call("far.touch");
  const event = await told;
  await node.unsubscribe("test://watched-resource");

  const controller = new AbortController();
  setTimeout(() => controller.abort("no longer wanted"), 200);
  const thrown = await node.call("far.slow", {}, { signal: controller.signal }).catch((reason) => reason);
  await node.close();
  return { progress, event, thrown, ...(await seen(bytes, store)) };
}

/** An argument that a header says again, for those who route calls. */
async function inHeader({ url }) {
  const { node } = await opened({ transport: "mcp", connection: url });
  const { value } = await node.call("far.test_custom_header", { region: "Österreich" });
  await node.close();
  return value;
}

async function file({ url }) {
  const { node, store } = await opened({ transport: "http", connection: `${url}/openapi.json` });
  const tools = node.getTools().map(({ name }) => name);
  const bytes = await node.call("far.get_file", { name: "noise.bin" });
  const echo = await node.call("far.echo", { body: { größe: 1 } });
  await node.close();
  return { tools, ...(await seen(bytes, store)), echo: echo.value };
}

async function manual({ url }) {
  const { node, store } = await opened({ transport: "utcp", connection: `${url}/utcp.json`, utcp_mode: "manual_url" });
  const bytes = await node.call("far.file", { name: "noise.bin" });
  const lines = await node.call("far.lines");
  await node.close();
  return { ...(await seen(bytes, store)), lines: lines.value };
}

/** The configuration holds no secret, and no address. */
async function variables({ values }) {
  const { node } = await opened(
    {
      transport: "http",
      connection: "${API}/openapi.json",
      auth_type: "bearer",
      auth_config: { token: "${API_TOKEN}" },
    },
    { variables: values },
  );
  const { value } = await node.call("far.me");
  await node.close();
  return value;
}

async function connect({ config }) {
  const { node } = await opened(config);
  await node.close();
  return "connected";
}

/** Where a file is elsewhere by now. */
async function moved({ url, auth = {} }) {
  const { node, store } = await opened({ transport: "http", connection: `${url}/openapi.json`, ...auth });
  const bytes = await node.call("far.moved");
  await node.close();
  return (await seen(bytes, store)).stored;
}

/** A source that wants to be left alone for a second. */
async function busy({ url }) {
  const { node, events } = await opened({ transport: "http", connection: `${url}/openapi.json` });
  const { value } = await node.call("far.busy");
  await node.close();
  const [{ kind, wait_s, error }] = events;
  return { value, kind, waits: wait_s >= 1, retryAfterSeconds: error.retryAfterSeconds };
}
