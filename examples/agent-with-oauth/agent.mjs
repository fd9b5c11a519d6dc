/**
 * An agent whose tool needs a person's consent: the run waits for it, in a folder, and goes on when the person has answered.
 * @module
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileArtifactStore, FileStateStore } from "mcp-sluice/node";
import { ReactPlanner, tool } from "mcp-sluice/planner";
import { OAuthManager, ToolNode } from "mcp-sluice/tools";
import { z } from "zod";
import { model } from "./model.mjs";
import { consent } from "./person.mjs";

const folder = process.env["STATE"] ?? join(tmpdir(), "sluice-agent-with-oauth");
const [port, providerPort] = (process.env["PORTS"] ?? "4760,4761").split(",").map(Number);
const isAutomatic = process.argv.includes("--auto") || !(process.stdout.isTTY || process.argv.includes("--by-hand"));
/** Whoever is logged in at this agent. */
const user = "ada";
const scope = { user_id: user };
/** Is called when they have answered. @type {() => void} */
let answered = () => undefined;

// Where the provider sends the person back to.
const callbacks = createServer((request, response) => void called(request, response)).listen(port, "127.0.0.1");
await once(callbacks, "listening");
const address = callbacks.address();
if (address === null || typeof address === "string") throw new Error("There is no port.");
const redirect_uri = `http://127.0.0.1:${address.port}/callback`;

// Stands in for somebody else's calendar, and for where its users log in.
const world = fork(join(import.meta.dirname, "provider.mjs"), [redirect_uri, String(providerPort)], { silent: true });
world.once("exit", (code) => {
  if (code !== 0) throw new Error(`The provider ended: is port ${providerPort} taken?`);
});
const [{ url: calendarUrl }] = await once(world, "message");

const stateStore = new FileStateStore(join(folder, "state"));
const artifactStore = new FileArtifactStore(join(folder, "artifacts"));
const manager = new OAuthManager({
  // Questions that nobody has answered yet outlive this process, too.
  stateStore,
  providers: {
    calendar: {
      display_name: "Example Calendar",
      issuer: calendarUrl,
      client_id: "agent",
      redirect_uri,
      scopes: ["openid", "calendar.read"],
    },
  },
});
const connection = `${calendarUrl}/openapi.json`;
const calendar = new ToolNode(
  { name: "calendar", transport: "http", connection, auth_type: "oauth2_user" },
  { authManager: manager, store: artifactStore },
);
await calendar.connect();

// Is called once, though the run waits in between: calls that are done are not made again.
const clock = tool({
  name: "clock",
  description: "Tells the day.",
  input: z.object({}),
  sideEffects: "read",
  run: () => {
    console.log("clock: asked");
    return "2025-07-18";
  },
});

const planner = new ReactPlanner({ catalog: [calendar, clock], llm: model(), stateStore, artifactStore });
const note = join(folder, "waiting.json");

let outcome = (await waitingRun()) ?? (await planner.run("What do I have to do today?", { scope }));
while (outcome.kind === "pause") {
  // Whole or not at all, whenever this process ends. Before that the run is not found again, and the next start begins anew.
  await writeFile(`${note}.new`, JSON.stringify(outcome));
  await rename(`${note}.new`, note);
  const { display_name, auth_url } = outcome.payload;
  console.log(`The run waits: ${String(display_name)} wants to know whether you agree.\n\n  ${String(auth_url)}\n`);
  const waiting = new Promise((resolve) => (answered = () => resolve(undefined)));
  if (isAutomatic) await consent(String(auth_url), { login: user });
  else console.log("Open this address. Ctrl-C loses nothing now: start the agent again, and it goes on.");
  await waiting;
  outcome = await planner.resume(outcome.resumeToken, { scope });
}
await rm(note, { force: true });
console.log(outcome.answer);

await calendar.close();
callbacks.close();
callbacks.closeAllConnections();
world.disconnect();

/**
 * Takes the provider's answer, for whoever is logged in here and for nobody else.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
async function called(request, response) {
  const url = new URL(request.url ?? "/", redirect_uri);
  if (url.pathname !== "/callback") {
    response.writeHead(404).end();
    return;
  }
  try {
    await manager.handleCallback(url, { user });
    response.end("Thank you. You can close this window.");
    answered();
  } catch (error) {
    response.end("No access was given.");
    // They declined. What answers none of our questions changes nothing.
    if (error instanceof Error && "user_id" in error) answered();
  }
}

/**
 * The run that an earlier start of this program left, if there is one. The person is asked anew, since the address that they
 * have may be too old; while it is not, it is as good.
 *
 * @returns {Promise<import("mcp-sluice/planner").PlannerPause | undefined>}
 */
async function waitingRun() {
  const text = await readFile(note, "utf8").catch(() => "null");
  const pause = parsed(text);
  if (typeof pause?.resumeToken !== "string") return undefined;
  if ((await stateStore.loadPlannerState(pause.resumeToken)) === null) return undefined;
  console.log("A run waits from before.");
  return { ...pause, payload: await manager.getAuthRequest({ provider: "calendar", ...scope }) };
}

/**
 * What somebody else wrote, or half of it, is no run.
 *
 * @param {string} text
 */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
