/** The model that agents ask, and what their tools do to the world. */
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { scriptedModel, type Script } from "../../../web/src/planner/llm/scripted-model.js";
import { serveForTest } from "../../unit/tools/serve.js";
import { Agent, type Place, type RedisPlace } from "./agent.js";

/** More than a claim holds that nobody renews. */
export const LEASE_IS_OVER = 61_000;

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
export interface World extends Place {
  readonly written: () => number;
  /** The reports that were to be sent: the answer to each is the test's to give. */
  readonly sent: { readonly report: string; readonly answer: (text: string) => void }[];
  /** Waits for so many of them. */
  readonly sending: (count: number) => Promise<void>;
  /** Lets agents begin when so many are ready. */
  readonly beginTogether: (count: number) => void;
}

/** Its agents are of this program; their runs wait in its folder, or in Redis where there is one. */
export async function worldOf(program: string, redis?: RedisPlace): Promise<World> {
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
export async function waiting(place: Place): Promise<string> {
  await using agent = new Agent(place, ["run"]);
  const { kind, resumeToken = "" } = await agent.printed;
  expect(kind).toBe("pause");
  return resumeToken;
}
