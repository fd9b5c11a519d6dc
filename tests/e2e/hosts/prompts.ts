/**
 * What stands in a prompt.
 * @module
 */

/** Longer runs are bytes; names, hashes and links are shorter. */
const LONGEST_WORD = 199;

/** The first run of base64, hex or byte values in a request body, cut; undefined when there is none. */
export function encodedIn(prompt: string): string | undefined {
  // Escapes of any depth, so that wrapped lines and `\/` do not hide a run.
  const flat = prompt.replaceAll("\\", "");
  const words = new RegExp(`[A-Za-z0-9+/_-]{${LONGEST_WORD + 1},}`);
  const values = /(?:\d{1,3},\s*){100,}/;
  return (words.exec(flat) ?? values.exec(flat))?.[0].slice(0, 80);
}

/** A request body without the tools that it offers, as JSON text: what was said so far. */
export function conversation(prompt: string): string {
  const { tools: _tools, ...rest } = JSON.parse(prompt) as Record<string, unknown>;
  return JSON.stringify(rest);
}

/** The artifacts that a request body names, oldest first, each once. */
export function artifactsIn(prompt: string): readonly string[] {
  return [...new Set(conversation(prompt).match(/artifact:\/\/[\w-]+_[0-9a-f]{12}/g))];
}

/** What adapters tell a model in place of a result that they could not take. */
export function failureIn(prompt: string): string | undefined {
  return /(?:Error calling tool|Failed to parse server response|McpError|MCP error).{0,80}/.exec(
    conversation(prompt),
  )?.[0];
}

/** What a model is given as the result of its last call. */
export interface ShownResult {
  /** The text of all parts. A part that is neither text nor image is here as JSON. */
  readonly text: string;
  /** How many images are shown as such. */
  readonly images: number;
  /** All of it, as JSON text. */
  readonly body: string;
}

/** Reads a request body of chat completions or of responses. A host may split one result into several messages. */
export function toolResult(prompt: string): ShownResult {
  const { messages = [], input = [] } = JSON.parse(prompt) as Readonly<Record<string, readonly Message[]>>;
  const said = [...messages, ...input];
  const results = said.slice(said.findIndex(({ role, type }) => role === "tool" || type === "function_call_output"));
  const parts = results.flatMap(({ content, output }) => partsOf(content ?? output));
  return {
    text: parts.map((part) => (isImage(part) ? "" : (part.text ?? JSON.stringify(part)))).join(""),
    images: parts.filter(isImage).length,
    body: JSON.stringify(results),
  };
}

function isImage({ type }: Part): boolean {
  return type === "image_url" || type === "input_image";
}

interface Message {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
  readonly output?: unknown;
}

interface Part {
  readonly type?: string;
  readonly text?: string;
}

function partsOf(content: unknown): readonly Part[] {
  return Array.isArray(content) ? (content as readonly Part[]) : [{ type: "text", text: String(content) }];
}
