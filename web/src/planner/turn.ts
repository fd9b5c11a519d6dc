/**
 * A turn of the model, brought to what can be worked with: whatever a client gives, ids are distinct, calls are no more than there is
 * room for, and what the model is reminded of later has an end.
 * @module
 */
import type { AssistantMessage, LlmToolCall, UserMessage } from "./llm/client.js";
import type { OpenStep } from "./run-state.js";

/** Characters of a call's id, and of a tool's name. */
const MAX_NAME = 256;
/** Characters of the arguments of one call that the model is told again. */
const MAX_ARGUMENTS = 50_000;
/** Characters of what it wrote beside its calls that it is told again. */
const MAX_TEXT = 50_000;

/** The first calls of a turn, so many at most. */
export function callsOf(calls: readonly LlmToolCall[], most: number): readonly LlmToolCall[] {
  const ids = new Set<string>();
  return calls.slice(0, most).map((call, at) => {
    const id = distinct(leading(call.id, MAX_NAME) || `call_${at}`, ids);
    ids.add(id);
    return { ...call, id, name: leading(call.name, MAX_NAME) };
  });
}

/** A turn as the model is reminded of it: what it wrote itself must not flood it either. */
export function reminderOf({ text, meta, calls }: OpenStep): AssistantMessage {
  const left = leading(text, MAX_TEXT);
  const content = left === text ? text : `${left}\n... [truncated: ${text.length - left.length} chars]`;
  return { role: "assistant", content, toolCalls: calls.map(short), ...(meta !== undefined && { meta }) };
}

/** What the model is told behind the results of a turn of which some calls are not made; nothing where all are. */
export function leftOutOf({ calls, leftOut = 0 }: OpenStep): readonly UserMessage[] {
  if (leftOut === 0) return [];
  const content =
    `[Not from the user] Of your ${calls.length + leftOut} calls the first ${calls.length} were made. ` +
    `The last ${leftOut} were not made, since a turn has no room for more: make them in a later turn if you still need them.`;
  return [{ role: "user", content }];
}

/** The beginning of a text, of so many UTF-16 units at most, and never half a character. */
export function leading(text: string, most: number): string {
  const start = text.slice(0, most);
  return start.length < text.length && /[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start;
}

function short(call: LlmToolCall): LlmToolCall {
  const { length } = call.arguments;
  if (length <= MAX_ARGUMENTS) return call;
  return { ...call, arguments: JSON.stringify({ left_out: `${length} characters of arguments` }) };
}

function distinct(id: string, taken: ReadonlySet<string>): string {
  let own = id;
  for (let number = 2; taken.has(own); number += 1) own = `${leading(id, MAX_NAME - 8)}_${number}`;
  return own;
}
