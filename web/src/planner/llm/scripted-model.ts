/**
 * A model that follows a script, for demos, examples and tests with reproducible answers. It is a `fetch` that
 * implements OpenAI's chat completions, so that the client is the real one: give it to a client, or answer a server's
 * requests with it.
 * @module
 */
import { z } from "zod";

/** A turn as the script sees it. */
export interface ScriptedTurn {
  /** The messages so far, the last one included. */
  readonly messages: readonly ScriptedMessage[];
  /** The last message: what the user asked, or the result of a call. */
  readonly last: ScriptedMessage;
  /** The names of the tools. */
  readonly tools: readonly string[];
}

/** One message of a turn. */
export interface ScriptedMessage {
  /** The author's role. */
  readonly role: "system" | "user" | "assistant" | "tool";
  /** The text. Empty if there was only a call. */
  readonly content: string;
}

/** The model's answer in a turn. */
export interface ScriptedAnswer {
  /** The text, if any. */
  readonly text?: string;
  /** The calls that it wants. */
  readonly calls?: readonly ScriptedCall[];
}

/** A call that the model wants made. */
export interface ScriptedCall {
  /** The tool's name, from the turn. */
  readonly name: string;
  /** Its arguments. */
  readonly args: Readonly<Record<string, unknown>>;
}

/** Answers by the messages so far. */
export type Script = (turn: ScriptedTurn) => ScriptedAnswer | Promise<ScriptedAnswer>;

const REQUEST = z.object({
  messages: z.array(
    z.object({
      role: z.enum(["system", "user", "assistant", "tool"]),
      content: z
        .string()
        .nullish()
        .transform((content) => content ?? ""),
    }),
  ),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).default([]),
  stream: z.boolean().default(false),
});

/**
 * A `fetch` that answers requests to `…/chat/completions`, as a stream if they ask for one. Refuses others with the reason.
 *
 * @example
 * ```ts
 * const fetch = createScriptedModel(({ last }) => ({ text: `You said: ${last.content}` }));
 * const llm = new OpenAiClient({ model: "scripted", baseUrl: "http://model.example/v1", fetch });
 * ```
 */
export function createScriptedModel(script: Script): typeof globalThis.fetch {
  return async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    if (!pathname.endsWith("/chat/completions")) return refuseRequest(404, `There is nothing at ${pathname}.`);
    const read = REQUEST.safeParse(await request.json().catch(() => undefined));
    if (!read.success) return refuseRequest(400, z.prettifyError(read.error));
    const { messages, tools, stream } = read.data;
    const last = messages.at(-1);
    if (last === undefined) return refuseRequest(400, "messages must have one message at least.");
    const answer = await script({ messages, last, tools: tools.map((tool) => tool.function.name) });
    return stream
      ? streamAnswer(answer, messages)
      : Response.json(completion("message", whole(answer), describeEnd(answer, messages)));
  };
}

function streamAnswer(answer: ScriptedAnswer, messages: readonly ScriptedMessage[]): Response {
  const encoder = new TextEncoder();
  const chunks = [...pieces(answer)].map((delta) => completion("delta", delta, {}));
  const events = [...chunks, completion("delta", {}, describeEnd(answer, messages))].map((chunk) =>
    JSON.stringify(chunk),
  );
  const body = [...events, "[DONE]"].map((data) => encoder.encode(`data: ${data}\n\n`));
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = body.shift();
      if (next === undefined) controller.close();
      else controller.enqueue(next);
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}

/** The text word by word, then each call: its name, then its arguments. */
function* pieces({ text = "", calls = [] }: ScriptedAnswer): Generator<object> {
  for (const content of text.match(/\S+\s*|\s+/g) ?? []) yield { content };
  for (const [index, call] of calls.entries()) {
    const { id, function: called } = toCall(call, index);
    yield { tool_calls: [{ index, id, type: "function", function: { name: called.name, arguments: "" } }] };
    yield { tool_calls: [{ index, function: { arguments: called.arguments } }] };
  }
}

function whole({ text = "", calls = [] }: ScriptedAnswer): object {
  return { content: text, ...(calls.length > 0 && { tool_calls: calls.map(toCall) }) };
}

function toCall({ name, args }: ScriptedCall, index: number): { readonly id: string; readonly function: Called } {
  return { id: `call_${index}`, function: { name, arguments: JSON.stringify(args) } };
}

interface Called {
  readonly name: string;
  readonly arguments: string;
}

interface Ended {
  readonly finish_reason?: string;
  readonly usage?: object;
}

/** Counts four characters as one token. */
function describeEnd({ text = "", calls = [] }: ScriptedAnswer, messages: readonly ScriptedMessage[]): Ended {
  const asked = messages.reduce((sum, { content }) => sum + content.length, 0);
  const said = text.length + JSON.stringify(calls).length;
  const usage = { prompt_tokens: Math.ceil(asked / 4), completion_tokens: Math.ceil(said / 4) };
  return { finish_reason: calls.length > 0 ? "tool_calls" : "stop", usage };
}

function completion(part: "delta" | "message", value: object, { finish_reason, usage }: Ended): object {
  const object = part === "delta" ? "chat.completion.chunk" : "chat.completion";
  const choice = { index: 0, [part]: { role: "assistant", ...value }, finish_reason: finish_reason ?? null };
  return { id: "scripted", object, model: "scripted", choices: [choice], ...(usage !== undefined && { usage }) };
}

function refuseRequest(status: number, message: string): Response {
  return Response.json({ error: { message, type: "invalid_request_error" } }, { status });
}
