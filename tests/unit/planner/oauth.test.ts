/** A user's consent asked for in the middle of a run, at a real authorization server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { OpenAiClient } from "../../../web/src/planner/llm/openai.js";
import type { PlannerPause } from "../../../web/src/planner/run-state.js";
import { ReactPlanner } from "../../../web/src/planner/react-planner.js";
import { OAuthManager } from "../../../web/src/tools/auth/oauth-manager.js";
import { ToolNode } from "../../../web/src/tools.js";
import {
  consent,
  REDIRECT,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "../tools/auth/authorization-server.js";
import { startProtectedMcp, type ProtectedMcp } from "../tools/auth/protected-mcp.js";
import { serveModel } from "./llm/model-server.js";

let authorization: TestAuthorizationServer;
let server: ProtectedMcp;
let manager: OAuthManager;
let node: ToolNode;

beforeAll(async () => {
  authorization = await startAuthorizationServer();
  server = await startProtectedMcp(authorization);
  manager = new OAuthManager({ providers: {} });
  const config = { name: "files", transport: "mcp", connection: server.url, auth_type: "oauth2_user" } as const;
  node = new ToolNode(config, {
    authManager: manager,
    oauthClient: { redirect_uri: REDIRECT, client_name: "Sluice in a test" },
  });
  // Somebody's tools are those that all are offered.
  await node.connect({
    scope: { user_id: "ada" },
    pause: (_, { auth_url }) => signIn("ada", auth_url),
  });
});
afterAll(async () => {
  await node.close();
  await server[Symbol.asyncDispose]();
  await authorization[Symbol.asyncDispose]();
});

async function signIn(user: string, url: unknown): Promise<void> {
  await manager.handleCallback(await consent(url as string, { login: `${user}@example` }), { user });
}

/** A planner whose model asks five times at once who somebody is, and says what it was told. */
async function planner(): Promise<ReactPlanner> {
  const { baseUrl } = await serveModel(({ messages }) => {
    const told = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    if (told.length > 0) return { text: told.join(" ") };
    return { calls: Array.from({ length: 5 }, () => ({ name: "files_whoami", args: {} })) };
  });
  return new ReactPlanner({ catalog: [node], llm: new OpenAiClient({ model: "scripted", baseUrl }) });
}

test("the run pauses with the provider's address, once for five calls, and goes on when the user consented", async () => {
  const scope = { user_id: "eve" };
  const agent = await planner();
  const pause = (await agent.run("Who am I?", { scope })) as PlannerPause;
  expect(pause).toMatchObject({ kind: "pause", reason: "external_event", tool: "files.whoami" });
  expect(pause.payload).toMatchObject({ pause_type: "oauth", provider: "files" });
  await signIn("eve", pause.payload["auth_url"]);
  const result = await agent.resume(pause.resumeToken, { scope });
  expect(result).toMatchObject({ kind: "result", answer: Array.from({ length: 5 }, () => '"eve@example"').join(" ") });
});

test("a user who declines is asked once for five calls, and the model is told", async () => {
  const scope = { user_id: "bob" };
  const agent = await planner();
  let outcome = await agent.run("Who am I?", { scope });
  let pauses = 0;
  while (outcome.kind === "pause") {
    pauses += 1;
    outcome = await agent.resume(outcome.resumeToken, { scope, answer: null });
  }
  expect(pauses).toBe(1);
  expect(outcome.answer.match(/did not give access/g)).toHaveLength(5);
});
