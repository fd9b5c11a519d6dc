/**
 * What deeds change of the state.
 * @module
 */
import type { Notice, ShownCall, State } from "./state.js";

/** Calls and notices that are shown; those before are forgotten. */
const MAX_CALLS = 50;
const MAX_NOTICES = 50;

/** A call begins, and is in view. */
export function withNewCall(
  { calls }: State,
  call: Omit<ShownCall, "state" | "startedAt">,
): Pick<State, "calls" | "call"> {
  const begun: ShownCall = { ...call, state: "running", startedAt: Date.now() };
  return { calls: [begun, ...calls].slice(0, MAX_CALLS), call: call.id };
}

/** A person should know something, and may have missed it. */
export function withNotice(
  { notices, unread }: State,
  notice: Omit<Notice, "id" | "at">,
): Pick<State, "notices" | "unread"> {
  const told: Notice = { ...notice, id: crypto.randomUUID(), at: Date.now() };
  return { notices: [told, ...notices].slice(0, MAX_NOTICES), unread: unread + 1 };
}
