/**
 * The prompts of a connection to a source (MCP, "Prompts"), and what they give.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { ReadContent } from "./resources/connection.js";

/** An argument of a prompt, which is a text. */
export interface PromptArgument {
  /** The name by which it is given. */
  readonly name: string;
  /** The source's description. */
  readonly description?: string;
  /** Whether the prompt needs it. */
  readonly required: boolean;
}

/** A prompt that the source lists. */
export interface ListedPrompt {
  /** The name to get it by. */
  readonly name: string;
  /** A title for people. */
  readonly title?: string;
  /** The source's description. */
  readonly description?: string;
  /** Its arguments. */
  readonly arguments: readonly PromptArgument[];
}

/** A message that a prompt gives, or that a server has for a model. */
export interface PromptMessage {
  /** Who says it. */
  readonly role: "user" | "assistant";
  /** A text, or an artifact: bytes and long texts. What is neither, such as a link, is its JSON. */
  readonly content: ReadContent;
}

/** How messages are read. */
export interface MessageReading {
  readonly scope: ArtifactScope;
  /** Maximum characters of an inline text. */
  readonly inlineChars: number;
  readonly signal: AbortSignal;
}

/** A source's prompts. Throws like `SourceConnection`. */
export interface PromptConnection {
  /** Lists prompts. Follows pages. */
  list(signal: AbortSignal): Promise<readonly ListedPrompt[]>;
  /** Gets a prompt. Binary data, and text longer than `inlineChars`, become artifacts. */
  get(name: string, args: Readonly<Record<string, string>>, reading: MessageReading): Promise<readonly PromptMessage[]>;
}
