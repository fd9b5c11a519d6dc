import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { createScriptedModel, type Script } from "../../../web/src/planner/llm/scripted-model.js";
import { programOf } from "../../support/program.js";
import { DURABLE, TestRedis } from "../../unit/redis/redis-server.js";
import {
  consent,
  REDIRECT,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "../../unit/tools/auth/authorization-server.js";
import { serveForTest } from "../../unit/tools/serve.js";
import { Agent, type Place, type Printed, type RedisPlace } from "./agent.js";

/** More than a claim holds that nobody renews. */
const LEASE_IS_OVER = 61_000;

/** Writes the report and asks for approval at once, sends what was written, and says what came of it. */
const script: Script = ({ messages }) => {
  const told = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  const id = /"report":"([^"]+)"/.exec(told[0] ?? "")?.[1] ?? "";
  if (told.length === 0) {
    return {
      calls: [
        { name: "write", args: {} },
        { name: "approve", args: {} },
      ],
    };
  }
  if (told.length === 2) return { calls: [{ name: "send", args: { report: id } }] };
  return { text: told.slice(1).join(" ") };
};

/** The model, and what the tools did to the world. */
interface World extends Place {
  readonly written: () => number;
  /** The reports that were to be sent: the answer to each is the test's to give. */
  readonly sent: { readonly report: string; readonly answer: (text: string) => void }[];
  /** Waits for so many of them. */
  readonly sending: (count: number) => Promise<void>;
  /** Lets agents begin when so many are ready. */
  readonly beginTogether: (count: number) => void;
}

/** Its agents are of this program; their runs wait in its folder, or in Redis where there is one. */
async function worldOf(program: string, redis?: RedisPlace): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-killed-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const model = createScriptedModel(script);
  const sent: World["sent"] = [];
  const ready: ServerResponse[] = [];
  let [written, together] = [0, 1];
  const answered = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await textOf(request);
    if (request.url === "/ready") {
      if (ready.push(response) >= together) for (const each of ready.splice(0)) each.end();
    } else if (request.url === "/written") {
      written += 1;
      response.end();
    } else if (request.url === "/sent") {
      sent.push({ report: body, answer: (text) => void response.end(text) });
    } else {
      const url = new URL(request.url ?? "", "http://model.test");
      const { status, headers, body: stream } = await model(url, { method: "POST", body });
      response.writeHead(status, Object.fromEntries(headers));
      for await (const chunk of stream ?? []) response.write(chunk);
      response.end();
    }
  };
  const origin = await serveForTest((request, response) => void answered(request, response));
  const sending = (count: number): Promise<void> =>
    vi.waitFor(() => expect(sent).toHaveLength(count), { timeout: 50_000 });
  const beginTogether = (count: number): void => void (together = count);
  return { program, folder, origin, ...(redis && { redis }), written: () => written, sent, sending, beginTogether };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
  return text;
}

/** A run that waits, of a process that was killed. */
async function waiting(place: Place): Promise<string> {
  await using agent = new Agent(place, ["run"]);
  const { kind, resumeToken = "" } = await agent.printed;
  expect(kind).toBe("pause");
  return resumeToken;
}

const AGENT = new URL("agent-program.ts", import.meta.url);

describe("consent", () => {
  const program = programOf(new URL("consent-program.ts", import.meta.url));
  let authorization: TestAuthorizationServer;
  beforeAll(async () => {
    authorization = await startAuthorizationServer();
  });
  afterAll(() => authorization[Symbol.asyncDispose]());

  /** Asks who the user is, and says what it was told. */
  const model = createScriptedModel(({ messages }) => {
    const told = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    return told.length > 0 ? { text: told.join(" ") } : { calls: [{ name: "crm_me", args: {} }] };
  });
  const description = { openapi: "3.1.0", paths: { "/me": { get: { operationId: "me" } } } };

  /** Where the processes meet: a folder, the model, and an API that knows its users by the provider's tokens. */
  let place: Place;
  /** How many begin at the same time. */
  let together: number;
  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), "sluice-consent-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const ready: ServerResponse[] = [];
    together = 1;
    const origin = await serveForTest((request, response) => void answer(request, response));
    place = { program: program.path, folder, origin };

    async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const json = (value: unknown): void =>
        void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
      if (request.url === "/ready") {
        if (ready.push(response) >= together) for (const each of ready.splice(0)) each.end();
      } else if (request.url === "/openapi.json") json(description);
      else if (request.url === "/me") {
        const owner = await authorization.owner(request.headers.authorization?.replace("Bearer ", "") ?? "");
        if (owner === null) response.writeHead(401).end();
        else json({ owner });
      } else {
        const url = new URL(request.url ?? "", "http://model.test");
        const { status, headers, body } = await model(url, { method: "POST", body: await textOf(request) });
        response.writeHead(status, Object.fromEntries(headers));
        for await (const chunk of body ?? []) response.write(chunk);
        response.end();
      }
    }
  });

  const started = (words: readonly string[]): Agent => new Agent(place, [authorization.issuer, REDIRECT, ...words]);

  /** What a process of its own prints, which is then killed. */
  async function printed(words: readonly string[]): Promise<Printed> {
    await using agent = started(words);
    return await agent.printed;
  }

  /** A run that waits for the user's consent, of a process that was killed, and where the user was sent when they gave it. */
  async function consented(): Promise<{ readonly token: string; readonly callback: string }> {
    const pause = await printed(["run"]);
    expect(pause).toMatchObject({ kind: "pause", payload: { pause_type: "oauth", provider: "crm" } });
    const url = await consent(pause.payload?.["auth_url"] as string, { login: "ada@example" });
    return { token: pause.resumeToken ?? "", callback: url.href };
  }

  test("the answer is taken in another process, and the run goes on in a third", async () => {
    const { token, callback } = await consented();
    const names = await readdir(join(place.folder, "state"), { recursive: true });
    expect(names.join("\n")).not.toContain(new URL(callback).searchParams.get("state"));
    expect(await printed(["callback", callback])).toMatchObject({ kind: "answered", user_id: "ada" });
    expect(await printed(["resume", token])).toMatchObject({ kind: "result", answer: '{"owner":"ada@example"}' });
    expect(await printed(["callback", callback])).toMatchObject({ kind: "error", code: "E_TOOL_AUTH" });
  });

  test("of several processes that are given the answer at the same time one takes it", async () => {
    const { callback } = await consented();
    const asked = authorization.asked.length;
    together = 3;
    const kinds = await Promise.all(
      Array.from({ length: 3 }, async () => (await printed(["callback", callback])).kind),
    );
    expect(kinds.sort()).toEqual(["answered", "error", "error"]);
    expect(authorization.asked).toHaveLength(asked + 1);
  });

  test("who forgot in another process gives no access", async () => {
    const { callback } = await consented();
    expect(await printed(["forget"])).toMatchObject({ kind: "forgotten" });
    expect(await printed(["callback", callback])).toMatchObject({ kind: "error", code: "E_TOOL_AUTH" });
  });

  test("a process that is killed while it takes the answer leaves nothing that could be answered twice", async () => {
    const { token, callback } = await consented();
    const reached = new Promise<void>((resolve) => authorization.instead.push(() => resolve()));
    const killed = started(["callback", callback]);
    await reached;
    await killed.kill();
    expect(await printed(["callback", callback])).toMatchObject({ kind: "error", code: "E_TOOL_AUTH" });
    // The run still waits, and learns that it has no access.
    const result = await printed(["resume", token]);
    expect(result).toMatchObject({ kind: "result", answer: expect.stringContaining("did not give access") });
  });
});

/** Runs whose processes are killed, and that go on in others. */
describe("a killed planner", () => {
  const program = programOf(AGENT);

  const world = (): Promise<World> => worldOf(program.path);

  test("a run that waits goes on in another process, when its own was killed", async () => {
    const here = await world();
    const token = await waiting(here);
    await using agent = new Agent(here, ["resume", token, "yes"]);
    await here.sending(1);
    const [sent] = here.sent;
    const report = await new FileArtifactStore(join(here.folder, "artifacts")).get(sent?.report ?? "", {
      user_id: "ada",
    });
    expect(new TextDecoder().decode(report ?? undefined)).toBe("The report.");
    sent?.answer("sent");
    expect(await agent.printed).toMatchObject({ kind: "result", answer: '"yes" "sent"' });
    // What was done before the pause was not done again, and there is nothing left to go on with.
    expect(here.written()).toBe(1);
    expect(await readdir(join(here.folder, "state", "runs"))).toEqual([]);
    await using late = new Agent(here, ["resume", token, "yes"], LEASE_IS_OVER);
    expect(await late.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });
  });

  test("a process that is killed in the middle of it does not lose it: it waits again when the lease is over", async () => {
    const here = await world();
    const token = await waiting(here);
    await goesOnAfterDeath(here, token);
    expect(await readdir(join(here.folder, "state", "runs"))).toEqual([]);
  });

  test("of several processes that go on with a run at the same time, one does", async () => {
    const here = await world();
    const token = await waiting(here);
    expect(await oneGoesOn(here, token)).toBe(1);
  });

  test("a run that is kept by a name is taken over behind the last step that was done, and is gone when it is over", async () => {
    const here = await world();
    await isTakenOver(here);
    expect(await readdir(join(here.folder, "state", "runs"))).toEqual([]);
  });
});

/** Runs that wait in Redis, while processes are killed, and Redis too. */
describe("over Redis", () => {
  const program = programOf(AGENT);

  /** `timeoutSeconds`: for how long agents wait for Redis. */
  async function world(timeoutSeconds = 20): Promise<World & { readonly server: TestRedis }> {
    const server = await TestRedis.started(...DURABLE);
    onTestFinished(() => server[Symbol.asyncDispose]());
    return { ...(await worldOf(program.path, { url: server.url, timeoutSeconds })), server };
  }

  test("a run goes on in another process when its own was killed, before it and in the middle of it", async () => {
    const here = await world();
    const token = await waiting(here);
    await goesOnAfterDeath(here, token);
    expect(await here.server.keys()).toEqual([]);
  });

  test("a run that is kept by a name is taken over behind the last step that was done, and is gone when it is over", async () => {
    const here = await world();
    await isTakenOver(here);
    expect(await here.server.keys()).toEqual([]);
  });

  test("of several processes that go on with a run at the same time, one does", async () => {
    const here = await world();
    const token = await waiting(here);
    expect(await oneGoesOn(here, token)).toBe(1);
  });

  test("a run outlives Redis, killed while it waits and killed while it goes on, and is gone when it is done", async () => {
    const here = await world();
    const token = await waiting(here);
    await here.server.kill();
    await using agent = new Agent(here, ["resume", token, "yes"]);
    await here.server.start();
    await here.sending(1);
    await here.server.kill();
    here.sent[0]?.answer("sent");
    await here.server.start();
    expect(await agent.printed).toMatchObject({ kind: "result", answer: '"yes" "sent"' });
    await using late = new Agent(here, ["resume", token, "yes"], LEASE_IS_OVER);
    expect(await late.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });
    expect([here.written(), here.sent.length]).toEqual([1, 1]);
    expect(await here.server.keys()).toEqual([]);
  });

  test("where Redis stays away a run fails with a coded error; one that waited goes on later, once", async () => {
    const here = await world(1);
    const token = await waiting(here);
    await using agent = new Agent(here, ["resume", token, "yes"]);
    await here.sending(1);
    await here.server.kill();
    here.sent[0]?.answer("sent");
    expect(await agent.printed).toMatchObject({
      kind: "error",
      code: expect.stringMatching(/^E_STORE_(READ|WRITE)$/),
    });
    await using unkept = new Agent(here, ["run"]);
    expect(await unkept.printed).toMatchObject({ kind: "error", code: "E_STORE_WRITE" });
    await here.server.start();

    await using again = new Agent(here, ["resume", token, "again"], LEASE_IS_OVER);
    await here.sending(2);
    await using other = new Agent(here, ["resume", token, "other"], LEASE_IS_OVER);
    expect(await other.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });
    here.sent[1]?.answer("sent");
    expect(await again.printed).toMatchObject({ kind: "result", answer: '"again" "sent"' });
    expect(here.sent).toHaveLength(2);
    expect(await here.server.keys()).toEqual([]);
  });
});

/** How many want to go on with one run. */
const MANY = 4;

/** Whoever goes on with it is killed in the middle: another goes on when the lease is over, and not before. */
async function goesOnAfterDeath(here: World, token: string): Promise<void> {
  const killed = new Agent(here, ["resume", token, "yes"]);
  await here.sending(1);
  await killed.kill();
  await using early = new Agent(here, ["resume", token, "again"]);
  expect(await early.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });

  await using agent = new Agent(here, ["resume", token, "again"], LEASE_IS_OVER);
  await here.sending(2);
  here.sent[1]?.answer("sent");
  expect(await agent.printed).toMatchObject({ kind: "result", answer: '"again" "sent"' });
  expect([here.written(), here.sent.length]).toEqual([1, 2]);
}

/**
 * A run that is kept by a name goes on from where it was, whenever its process is killed: before a pause, in it, and behind an answer,
 * which is not asked for again.
 */
async function isTakenOver(here: World): Promise<void> {
  const begun = new Agent(here, ["begin", "the run"]);
  const { resumeToken = "" } = await begun.printed;
  await begun.kill();
  await using waits = new Agent(here, ["take-over", "the run"]);
  expect(await waits.printed).toMatchObject({ kind: "pause", resumeToken });

  const answered = new Agent(here, ["resume", resumeToken, "yes"]);
  await here.sending(1);
  await answered.kill();
  await using early = new Agent(here, ["take-over", "the run"]);
  expect(await early.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });
  await using again = new Agent(here, ["resume", resumeToken, "no"], LEASE_IS_OVER);
  expect(await again.printed).toMatchObject({ kind: "error", code: "E_NOT_FOUND" });

  await using agent = new Agent(here, ["take-over", "the run"], LEASE_IS_OVER);
  await here.sending(2);
  here.sent[1]?.answer("sent");
  expect(await agent.printed).toMatchObject({ kind: "result", answer: '"yes" "sent"' });
  expect([here.written(), here.sent.length]).toEqual([1, 2]);
}

/** Many go on with it at the same time: one does, and the others are told. Gives how often the mail was sent. */
async function oneGoesOn(here: World, token: string): Promise<number> {
  here.beginTogether(MANY);
  const agents = Array.from({ length: MANY }, (_, at) => new Agent(here, ["resume", token, `${at}`]));
  try {
    const codes: (string | undefined)[] = [];
    const printed = agents.map(async (agent) => void codes.push((await agent.printed).code));
    await here.sending(1);
    const refused = Array.from({ length: MANY - 1 }, () => "E_NOT_FOUND");
    await vi.waitFor(() => expect(codes).toEqual(refused));
    here.sent[0]?.answer("sent");
    await Promise.all(printed);
    expect(codes[MANY - 1]).toBeUndefined();
    return here.sent.length;
  } finally {
    for (const agent of agents) await agent.kill();
  }
}
