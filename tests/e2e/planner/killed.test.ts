/** Runs whose processes are killed, and that go on in others. */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { scriptedModel, type Script } from "../../../web/src/planner/llm/scripted-model.js";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { serveForTest } from "../../unit/tools/serve.js";
import { Agent, bundledAgent, type Place } from "./agent.js";

/** More than a claim holds that nobody renews. */
const LEASE_IS_OVER = 61_000;

let program: Awaited<ReturnType<typeof bundledAgent>>;
beforeAll(async () => {
  program = await bundledAgent();
});
afterAll(() => program.dispose());

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

async function world(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-killed-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const model = scriptedModel(script);
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
      const { status, headers, body: stream } = await model(new Request(url, { method: "POST", body }));
      response.writeHead(status, Object.fromEntries(headers));
      for await (const chunk of stream ?? []) response.write(chunk);
      response.end();
    }
  };
  const origin = await serveForTest((request, response) => void answered(request, response));
  const sending = (count: number): Promise<void> =>
    vi.waitFor(() => expect(sent).toHaveLength(count), { timeout: 20_000 });
  const beginTogether = (count: number): void => void (together = count);
  return { program: program.path, folder, origin, written: () => written, sent, sending, beginTogether };
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
  expect(await readdir(join(here.folder, "state", "runs"))).toEqual([]);
});

test("of several processes that go on with a run at the same time, one does", async () => {
  const here = await world();
  const token = await waiting(here);
  here.beginTogether(4);
  const agents = Array.from({ length: 4 }, (_, at) => new Agent(here, ["resume", token, `${at}`]));
  try {
    const codes: (string | undefined)[] = [];
    const printed = agents.map(async (agent) => void codes.push((await agent.printed).code));
    await here.sending(1);
    await vi.waitFor(() => expect(codes).toEqual(Array.from({ length: 3 }, () => "E_NOT_FOUND")), { timeout: 20_000 });
    here.sent[0]?.answer("sent");
    await Promise.all(printed);
    expect(codes[3]).toBeUndefined();
    expect(here.sent).toHaveLength(1);
  } finally {
    for (const agent of agents) await agent.kill();
  }
});
