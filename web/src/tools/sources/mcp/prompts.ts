/**
 * The prompts of an MCP server (MCP, "Prompts").
 * @module
 */
import type { ListedPrompt, MessageReading, PromptConnection, PromptMessage } from "../../source-features.js";
import { type MessageDeps, readMessages } from "./messages.js";
import { NO_LIMIT, type RequestDeps, sendRequest } from "./requests.js";
import { allPages } from "./resources.js";

/** The prompts of a connected server. */
export class McpPrompts implements PromptConnection {
  readonly #deps: RequestDeps & MessageDeps;

  constructor(deps: RequestDeps & MessageDeps) {
    this.#deps = deps;
  }

  /** Follows pages up to 10,000 entries. */
  async list(signal: AbortSignal): Promise<readonly ListedPrompt[]> {
    const { client } = this.#deps;
    const listed = await allPages(this.#deps, "prompts", signal, async (params) => {
      const list = client.request({ method: "prompts/list", params }, { signal, timeout: NO_LIMIT });
      const { prompts: entries, nextCursor } = await list;
      return { entries, nextCursor };
    });
    return listed.map(({ name, title, description, arguments: args = [] }) => ({
      name,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      arguments: args.map((each) => ({
        name: each.name,
        ...(each.description !== undefined && { description: each.description }),
        required: each.required === true,
      })),
    }));
  }

  async get(
    name: string,
    args: Readonly<Record<string, string>>,
    reading: MessageReading,
  ): Promise<readonly PromptMessage[]> {
    const { signal } = reading;
    const params = { name, arguments: { ...args } };
    const ask = async (): Promise<readonly PromptMessage[]> => {
      const { messages } = await this.#deps.client.getPrompt(params, { signal, timeout: NO_LIMIT });
      return readMessages(messages, reading, this.#deps);
    };
    return sendRequest({ ask, signal }, this.#deps);
  }
}
