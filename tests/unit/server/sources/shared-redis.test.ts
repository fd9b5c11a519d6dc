/** Two servers over one Redis server: what begins in one goes on in the other. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { redisState } from "../../../../web/src/server/redis/state.js";
import type { SluiceServerOptions } from "../../../../web/src/serve.js";
import { TestRedis } from "../../redis/redis-server.js";
import { consent, REDIRECT, startAuthorizationServer } from "../../tools/auth/authorization-server.js";
import { startProtectedMcp } from "../../tools/auth/protected-mcp.js";
import { called, calledOnce, elsewhere, listening, posted, program, served, visitor, type Serving } from "./serving.js";
import { Telling, type Told } from "./told.js";

const SECRET = "a secret of thirty-two characters";
const WATCHED = "test://watched-resource";
const watched = `/resources/lab/${encodeURIComponent(WATCHED)}/subscription`;

let redis: TestRedis;

beforeAll(async () => {
  redis = await TestRedis.started();
});
afterAll(() => redis[Symbol.asyncDispose]());

/** Each has connections of its own. */
function two(options: Partial<SluiceServerOptions> = {}): readonly [Serving, Serving] {
  const store = new MemoryArtifactStore();
  const one = (): Serving => {
    const state = redisState({ url: redis.url, secret: SECRET });
    onTestFinished(() => state[Symbol.asyncDispose]());
    return served({ state, store, secret: SECRET, sources: [program("lab")], ...options });
  };
  return [one(), one()];
}

test("a question is answered in the other", async () => {
  const [first, second] = two();
  const ada = await visitor(first);
  await using telling = await called(ada, "lab.test_input_required_result_elicitation");
  const { pause } = (await telling.next("paused")) as Told & { pause: string };
  const answer = posted({ answer: { name: "Ada" } });
  expect((await elsewhere(second, await visitor(second, "bob"), `/pauses/${pause}`, answer)).status).toBe(404);
  expect((await elsewhere(second, ada, `/pauses/${pause}`, answer)).status).toBe(204);
  expect(await telling.next("result")).toMatchObject({ observation: '"Hello, Ada!"' });
});

test("a call ends with its session, which ends in the other", async () => {
  const [first, second] = two();
  const ada = await visitor(first);
  await using telling = await called(ada, "lab.slow");
  const last = telling.rest();
  await calledOnce(ada, "lab.progress");
  await elsewhere(second, ada, "/sessions/current", { method: "DELETE" });
  expect(await last).toMatchObject([{ kind: "failed", error: { code: "E_SESSION" } }]);
});

test("what is subscribed to in one is told by the other, also once the first is gone", async () => {
  const [first, second] = two();
  const ada = await visitor(first);
  await using told = await listening(ada);
  const update = told.next("resource_updated");
  expect((await elsewhere(second, ada, watched, { method: "PUT" })).status).toBe(204);
  await expect
    .poll(async () => {
      await calledOnce(ada, "lab.touch");
      return Promise.race([update, Promise.resolve(null)]);
    })
    .toMatchObject({ uri: WATCHED });
  await first.server[Symbol.asyncDispose]();
  const headers = { "last-event-id": told.lastId ?? "" };
  await using again = new Telling(await elsewhere(second, ada, "/events", { headers }));
  expect(await again.next("resource_updated")).toMatchObject({ uri: WATCHED });
});

test("a person who was asked by one comes back to the other", async () => {
  await using authorization = await startAuthorizationServer();
  await using mcp = await startProtectedMcp(authorization);
  const far = { name: "far", transport: "mcp", connection: mcp.url, auth_type: "oauth2_user" } as const;
  const [first, second] = two({ sources: [far], oauthClient: { redirect_uri: REDIRECT } });
  const ada = await visitor(first);
  await using telling = await called(ada, "far.whoami");
  const asked = (await telling.next("paused")) as Told & { payload: { auth_url: string } };
  const { search } = await consent(asked.payload.auth_url, { login: "ada@example" });
  expect((await elsewhere(second, ada, `/oauth/callback${search}`)).status).toBe(200);
  expect(await telling.next("result")).toMatchObject({ observation: '"ada@example"' });
});
