/**
 * The world outside: an authorization server, and a calendar that takes its tokens. A process of its own.
 *
 * node provider.mjs REDIRECT_URI PORT
 * @module
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const [redirectUri = "", port] = process.argv.slice(2);
const pageOrigin = new URL(redirectUri).origin;
const server = createServer().listen(Number(port), "127.0.0.1");
await once(server, "listening");
const address = server.address();
if (address === null || typeof address === "string") throw new Error("There is no port.");
const url = `http://127.0.0.1:${address.port}`;

const provider = new Provider(url, {
  clients: [
    {
      client_id: "agent",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    },
  ],
  scopes: ["openid", "offline_access", "calendar.read"],
  pkce: { required: () => true },
  cookies: { keys: ["for an example"] },
  // A page asks for its tokens itself, from where the person is sent back to. Agents in Node are asked for no origin.
  /** @type {(context: unknown, origin: string) => boolean} */
  clientBasedCORS: (_, origin) => origin === pageOrigin,
  // Any name is somebody's.
  /** @type {(context: unknown, accountId: string) => object} */
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
});
const authorize = provider.callback();

const TODAY = ["a talk about locks at ten", "lunch with Charles"];
const description = {
  openapi: "3.1.0",
  info: { title: "A calendar", version: "1.0.0" },
  paths: {
    "/events": { get: { operationId: "events", summary: "What a person has to do today." } },
    "/year.csv": { get: { operationId: "year", summary: "A person's whole year, as CSV." } },
  },
};

server.on("request", (request, response) => {
  if (request.url === "/openapi.json" || request.url === "/events" || request.url === "/year.csv") {
    void answer(request, response);
  } else authorize(request, response);
});
process.send?.({ url });
process.once("disconnect", () => process.exit());

/**
 * The calendar's own addresses: its description for everybody, the rest for those who bring a token.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
async function answer(request, response) {
  response
    .setHeader("access-control-allow-origin", pageOrigin)
    .setHeader("access-control-allow-headers", "authorization");
  if (request.method === "OPTIONS") response.writeHead(204).end();
  else if (request.url === "/openapi.json") json(response, description);
  else if (!(await isAllowed(request))) response.writeHead(401).end();
  else if (request.url === "/events") json(response, TODAY);
  else response.setHeader("content-type", "text/csv").end(year());
}

/**
 * Whether the token is one of ours, and may read.
 *
 * @param {import("node:http").IncomingMessage} request
 */
async function isAllowed(request) {
  const token = await provider.AccessToken.find(request.headers.authorization?.replace("Bearer ", "") ?? "");
  return token !== undefined && token.scopes.has("calendar.read");
}

/** One line for each day. */
function year() {
  const days = Array.from({ length: 365 }, (_, at) => {
    const day = new Date(Date.UTC(2025, 0, 1 + at)).toISOString().slice(0, 10);
    return `${day},${at % 7 === 2 ? "10:00,a talk about locks" : "12:30,lunch with Charles"}`;
  });
  return ["day,time,event", ...days].join("\n");
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {unknown} value
 */
function json(response, value) {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}
