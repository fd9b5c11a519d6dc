/**
 * A server for the benchmarks, in a process of its own: `node server.mjs FOLDER`. Its parent tells it what to do, and is told its port,
 * and how much memory it has.
 * @module
 */
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { FileArtifactStore } from "../../../dist/node.js";
import { listen, memoryState, SluiceServer } from "../../../dist/serve.js";

const [folder, file] = process.argv.slice(2);
const LARGE = 1_000_000_000;

/** Seconds for which no connection is closed: one that waits while others have their turn is used again. */
const PATIENT = 600;

/** Nobody is turned away: what is measured is the work. */
const limits = { requestsPerMinute: LARGE, sessionsPerMinute: LARGE };
const retention = { ttl_seconds: null, max_artifact_bytes: null };
const store = new FileArtifactStore(folder);
const state = memoryState();
const server = new SluiceServer({ store, state, retention, limits });
const listening = await listen(server, {
  host: "127.0.0.1",
  port: 0,
  maxConnections: 10_000,
  clientSeconds: PATIENT,
});

const headers = { "Content-Type": "application/octet-stream", "Content-Length": String(statSync(file).size) };

/** As little as can be done for a download, to compare with: Node's own streams, and a response of Hono's over one. */
const plain = await portOf((_, response) => {
  response.writeHead(200, headers);
  createReadStream(file).pipe(response);
});
const answer = () => new Response(Readable.toWeb(createReadStream(file)), { headers });
const hono = await portOf(getRequestListener(answer, { overrideGlobalObjects: false }));

async function portOf(listener) {
  const other = createServer({ keepAliveTimeout: PATIENT * 1000 }, listener);
  await new Promise((resolve) => other.listen(0, "127.0.0.1", resolve));
  return other.address().port;
}

const ORDERS = {
  memory() {
    globalThis.gc?.();
    return process.memoryUsage.rss();
  },
  /** Milliseconds of work so far, of all its threads. */
  work() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  /** Stores so many small artifacts in each of these sessions, as tools would. */
  async fill({ sessions, count }) {
    for (const session of sessions) {
      const scope = { user_id: "local", session_id: session };
      const texts = Array.from({ length: count }, (_, at) => `artifact ${at} of ${session}`);
      await Promise.all(texts.map((text) => store.putText(text, { scope, namespace: "bench", filename: "note.txt" })));
    }
  },
};

async function obey({ id, order, terms }) {
  process.send({ id, value: await ORDERS[order](terms) });
}

process.on("message", (message) => void obey(message));
process.once("disconnect", () => process.exit());
process.send({ port: listening.port, plain, hono });
