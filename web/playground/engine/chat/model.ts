/**
 * The model of a chat, what it is sent, and its text as it streams.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { type LlmClient, type LlmMessage, OpenAiClient, scriptedModel } from "mcp-sluice/planner";
import type { ChatEvent, ChatModel, SeenMessage } from "./messages.js";
import { script } from "./script.js";

/** Milliseconds between the script's words, so that they stream visibly. */
const PACE = 12;

/** The client of a model. Throws E_INVALID_ARGUMENT for an invalid URL. */
export function modelOf(model: ChatModel): LlmClient {
  if (model.kind === "endpoint") {
    const { url: baseUrl, model: name, key } = model;
    return new OpenAiClient({ model: name, baseUrl, ...(key !== "" && { apiKey: key }) });
  }
  if (model.kind === "served") throw new SluiceError("E_MISUSE", "The server's model is asked by the server.");
  const answer = scriptedModel(script);
  return new OpenAiClient({
    model: "scripted",
    baseUrl: "https://scripted.invalid/v1",
    fetch: async (input, init) => paced(await answer(input, init)),
  });
}

/** The same client, which reports what the model is sent and calls. */
export function observed(llm: LlmClient, tell: (event: ChatEvent) => void): LlmClient {
  let [step, known] = [0, 0];
  return {
    model: llm.model,
    ask: async (request, options) => {
      step += 1;
      const messages = request.messages.slice(known).flatMap(seen);
      known = request.messages.length;
      tell({ kind: "asked", step, messages, tools: request.tools.length });
      const answer = await llm.ask(request, options);
      const calls = answer.toolCalls.map(({ id, name, arguments: args }) => ({ id, name, args }));
      tell({ kind: "wanted", step, calls: request.tools.length === 0 ? [] : calls });
      return answer;
    },
  };
}

/** The messages that are new to the model: all but its own. */
function seen(message: LlmMessage): readonly SeenMessage[] {
  if (message.role === "assistant") return [];
  if (message.role !== "tool") return [{ role: message.role, text: message.content }];
  return [{ role: "tool", text: message.content, tool: message.name, call: message.callId }];
}

function paced(response: Response): Response {
  const slowly = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      await new Promise((resolve) => setTimeout(resolve, PACE));
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(slowly) ?? null, response);
}

/** Milliseconds that text is collected. */
const TEXT_INTERVAL = 50;

/** Passes events on in order, with text in fewer chunks: the page renders the whole answer for each. */
export class TextBuffer {
  readonly #tell: (event: ChatEvent) => void;
  #text: Extract<ChatEvent, { readonly kind: "text" }> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tell: (event: ChatEvent) => void) {
    this.#tell = tell;
  }

  /** Collects text for a moment. Other events pass at once, after the text before them. */
  tell(event: ChatEvent): void {
    if (event.kind !== "text" || (this.#text !== undefined && this.#text.step !== event.step)) this.flush();
    if (event.kind !== "text") return this.#tell(event);
    this.#text = { ...event, text: (this.#text?.text ?? "") + event.text };
    this.#timer ??= setTimeout(() => this.flush(), TEXT_INTERVAL);
  }

  /** Passes on the collected text. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = undefined;
    if (text !== undefined) this.#tell(text);
  }
}
