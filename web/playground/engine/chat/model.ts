/**
 * The model of a chat, and who listens to what it is told.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { OpenAiClient, scriptedModel, type LlmClient, type LlmMessage } from "mcp-sluice/planner";
import type { ChatEvent, ChatModel, SeenMessage } from "./contract.js";
import { script } from "./script.js";

/** Milliseconds between the script's words: a person sees them come. */
const PACE = 12;

/** The client of a model. Throws E_INVALID_ARGUMENT for an address that is none. */
export function modelOf(model: ChatModel): LlmClient {
  if (model.kind === "endpoint") {
    const { url: baseUrl, model: name, key } = model;
    return new OpenAiClient({ model: name, baseUrl, ...(key !== "" && { apiKey: key }) });
  }
  // The server's own is asked there.
  if (model.kind === "served") throw new SluiceError("E_MISUSE", "The server's model is asked by the server.");
  const answer = scriptedModel(script);
  return new OpenAiClient({
    model: "scripted",
    baseUrl: "https://scripted.invalid/v1",
    fetch: async (input, init) => paced(await answer(new Request(input, init))),
  });
}

/** The same model; what it is told and wants called is told on. */
export function overheard(llm: LlmClient, tell: (event: ChatEvent) => void): LlmClient {
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

/** What the model said itself is no news to it. */
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
