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
