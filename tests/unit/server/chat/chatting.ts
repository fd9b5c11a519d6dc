/**
 * Servers with a chat, whose model says what a script says, and people who ask it.
 * @module
 */
import { once } from "node:events";
import { expect, vi } from "vitest";
import { z } from "zod";
import type { LlmClient } from "../../../../web/src/planner/llm/client.js";
import { OpenAiClient } from "../../../../web/src/planner/llm/openai.js";
import { createScriptedModel, type Script } from "../../../../web/src/planner/llm/scripted-model.js";
import { tool, type NativeTool } from "../../../../web/src/planner/tool.js";
import { memoryState, type ServeState, type SluiceServerOptions } from "../../../../web/src/serve.js";
import { posted, served, visitor, type Serving } from "../sources/serving.js";
import { Telling, type Told } from "../sources/told.js";
import type { Visitor } from "../visitor.js";

/** Signs tokens in all servers that share a state. */
export const SECRET = "a secret of more than thirty-two characters";

/** A run's id and its events. */
export interface Asked {
  readonly run: string;
  readonly telling: Telling;
}

/** A model by a script, through the real client. */
export function modelOf(script: Script): LlmClient {
  return new OpenAiClient({ model: "scripted", baseUrl: "http://model.test/v1", fetch: createScriptedModel(script) });
}

/** Calls these tools, a step each, and then says what they said. */
export function calling(...names: readonly string[]): Script {
  return ({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    const name = names[results.length];
    return name === undefined ? { text: `They said ${results.join(" ")}.` } : { calls: [{ name, args: {} }] };
  };
}

/** A tool without arguments. */
export function doing(name: string, run: Parameters<typeof tool>[0]["run"]): NativeTool {
  return tool({ name, description: "", input: z.object({}), run });
}

/** A tool that waits until it is told to go on. */
export interface Gate {
  readonly tool: NativeTool;
  /** How often it was called. */
  readonly calls: () => number;
  /** Settles when it was called so often. */
  readonly called: (count: number) => Promise<void>;
  /** Lets those through that wait, and all that come. */
  readonly open: () => void;
}

export function gate(name = "wait"): Gate {
  let calls = 0;
  const interceptor = new AbortController();
  const run = async (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
    calls += 1;
    const either = AbortSignal.any([interceptor.signal, signal]);
    if (!either.aborted) await once(either, "abort");
    signal.throwIfAborted();
    return "waited";
  };
  const called = async (count: number): Promise<void> => {
    await vi.waitFor(() => expect(calls).toBeGreaterThanOrEqual(count), { timeout: 20_000, interval: 5 });
  };
  return { tool: doing(name, run), calls: () => calls, called, open: () => interceptor.abort() };
}

/** A server with a chat, until the test is over. */
export function chatting(
  script: Script,
  tools: readonly NativeTool[],
  more: Partial<SluiceServerOptions> = {},
): Serving {
  return served({ llm: modelOf(script), tools, ...more });
}

/** Two that share their state, and their store, as two processes would. */
export function twoChatting(
  script: Script,
  tools: readonly [readonly NativeTool[], readonly NativeTool[]],
): readonly [Serving, Serving, ServeState] {
  const state = memoryState();
  const one = chatting(script, tools[0], { state, secret: SECRET });
  const other = chatting(script, tools[1], { state, secret: SECRET, store: one.store });
  return [one, other, state];
}

/** Asks, and reads the first event. */
export async function asked(by: Visitor, query = "Go.", more: object = {}): Promise<Asked> {
  const response = await by.ask("/chat", posted({ query, ...more }));
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const telling = new Telling(response);
  const started = await telling.next();
  if (started?.kind !== "run_started") throw new Error(JSON.stringify(started));
  return { run: started["run"] as string, telling };
}

/** Follows a run, behind an event where one is named. */
export async function followed(by: Visitor, run: string, lastId?: string): Promise<Telling> {
  const headers: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId };
  const response = await by.ask(`/chat/${run}`, { headers });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return new Telling(response);
}

/** Answers a pause. */
export function resumed(by: Visitor, resume_token: unknown, answer: unknown): Promise<Response> {
  return by.ask("/chat/resume", posted({ resume_token, answer }));
}

/** The kinds of events. */
export function kinds(told: readonly Told[]): readonly string[] {
  return told.map(({ kind }) => kind);
}

/** The text that events of a step tell, where they are to be kept. */
export function textOf(told: readonly Told[]): string {
  let text = "";
  for (const event of told) {
    if (event.kind === "text") text += event["text"] as string;
    if (event.kind === "text_discarded" || event.kind === "step_started") text = "";
  }
  return text;
}

export { posted, visitor };
