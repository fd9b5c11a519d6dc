/**
 * The world outside: an authorization server, and a calendar that takes its tokens. A process of its own.
 *
 * node provider.mjs REDIRECT_URI PORT
 * @module
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const [redirectUri, port] = process.argv.slice(2);
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
  // Any name is somebody's.
  /** @type {(context: unknown, accountId: string) => object} */
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
});
const authorize = provider.callback();

const description = {
  openapi: "3.1.0",
  info: { title: "A calendar", version: "1.0.0" },
  paths: { "/events": { get: { operationId: "events", summary: "What a person has to do today." } } },
};

server.on("request", (request, response) => {
  if (request.url === "/openapi.json") json(response, description);
  else if (request.url === "/events") void events(request, response);
  else authorize(request, response);
});
process.send?.({ url });
process.once("disconnect", () => process.exit());

/**
 * Tells those who bring a token what is in the calendar of whoever gave it.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
async function events(request, response) {
  const token = await provider.AccessToken.find(request.headers.authorization?.replace("Bearer ", "") ?? "");
  if (token?.accountId !== "ada") response.writeHead(401).end();
  else json(response, ["a talk about locks at ten", "lunch with Charles"]);
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {unknown} value
 */
function json(response, value) {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}
