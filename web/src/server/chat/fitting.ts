/**
 * Events cut down to what a log takes.
 * @module
 */
import type { CallPlace } from "../../planner/event.js";
import { leading } from "../../planner/call.js";
import { MAX_EVENT_BYTES, type LoggedEvent } from "../events/event-log.js";
import type { ChatEvent } from "./chat-event.js";

/** UTF-16 units of text in one event. */
const MAX_TEXT = 32 * 1024;

/** Refs in one event, where there are too many. */
const MAX_REFS = 64;

/** Whether a log takes an event as it is. */
export function fits(event: LoggedEvent): boolean {
  return Buffer.byteLength(JSON.stringify(event)) <= MAX_EVENT_BYTES;
}

/**
 * An event as several that a log takes. Text and lists of references come in pieces; of what cannot, `left_out` says how many bytes
 * it had.
 */
export function fitting(event: ChatEvent): readonly LoggedEvent[] {
  if (event.kind === "text") return inPieces(event.text).map((text) => ({ ...event, text }));
  if (fits(event)) return [event];
  if (event.kind === "artifact_stored") {
    const { artifacts } = event;
    const starts = Array.from({ length: Math.ceil(artifacts.length / MAX_REFS) }, (_, at) => at * MAX_REFS);
    return starts.map((at) => shortened({ ...event, artifacts: artifacts.slice(at, at + MAX_REFS) }));
  }
  return [shortened(event)];
}

function shortened(event: ChatEvent): LoggedEvent {
  if (fits(event)) return event;
  const left_out = Buffer.byteLength(JSON.stringify(event));
  const { kind, step, call, tool } = event as Partial<CallPlace> & { readonly kind: string };
  const small: LoggedEvent & object = {
    kind,
    ...(step !== undefined && { step }),
    ...(call !== undefined && { call }),
  };
  if (event.kind !== "pause") return { ...small, ...(tool !== undefined && { tool }), left_out } as LoggedEvent;
  return { ...event, payload: {}, left_out } as LoggedEvent;
}

function inPieces(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    // A piece ends in no half of a character, unless there is nothing else.
    const piece = leading(text.slice(at, at + MAX_TEXT + 1), MAX_TEXT) || text.slice(at, at + 1);
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}
