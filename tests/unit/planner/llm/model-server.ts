import { serveForTest } from "../../tools/serve.js";
import { createScriptedModel, type Script } from "../../../../web/src/planner/llm/scripted-model.js";
import type { IncomingMessage, ServerResponse } from "node:http";

/** A request as it came. */
export interface Asked {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A scripted model behind a real server; gives its base URL and what it was asked. */
export async function serveModel(
  script: Script,
): Promise<{ readonly baseUrl: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const answer = createScriptedModel(script);
  const origin = await serveForTest((request, response) => void relayed(request, response));
  return { baseUrl: `${origin}/v1`, asked };

  async function relayed(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    asked.push({ url: request.url ?? "", headers: request.headers, body });
    const url = new URL(request.url ?? "", "http://model.test");
    const answered = await answer(url, { method: "POST", body });
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    for await (const chunk of answered.body ?? []) response.write(chunk);
    response.end();
  }
}

/** A server that answers as it likes; gives its base URL. */
export async function serveAnswers(
  answer: (response: ServerResponse, number: number) => void,
): Promise<{ readonly baseUrl: string; readonly count: () => number }> {
  let count = 0;
  const origin = await serveForTest((request, response) => {
    request.resume();
    request.on("end", () => answer(response, (count += 1)));
  });
  return { baseUrl: `${origin}/v1`, count: () => count };
}

/** Writes events, each with JSON as its data, and ends unless told otherwise. */
export function writeEvents(response: ServerResponse, events: readonly unknown[], { ends = true } = {}): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  for (const event of events) response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
  if (ends) response.end();
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
  return text;
}
