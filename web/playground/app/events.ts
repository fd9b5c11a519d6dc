/**
 * What the engine tells, written into the state.
 * @module
 */
import type { EngineEvent, Problem } from "../engine/contract.js";
import { withCall, type ShownServe, type State } from "./state.js";

/** Lines of the log that are shown; those before are forgotten. */
const MAX_LINES = 500;

/** What is known of a server before it has said something. */
export const NOTHING: ShownServe = { sources: [], chat: false, artifacts: [], hasMore: false };

const OVER: Problem = {
  code: "E_SESSION",
  message: "Your session at this page's server is over, and what it stored there is gone.",
};

/** What an event changes of the state; `now` is in milliseconds since 1970. */
export function changeBy(state: State, event: EngineEvent, now: number): Partial<State> {
  const { servers, pauses, updates, log, changes, server: shown } = state;
  switch (event.kind) {
    case "server": {
      const { server } = event;
      const isKnown = servers.some(({ name }) => name === server.name);
      return {
        servers: isKnown ? servers.map((each) => (each.name === server.name ? server : each)) : [...servers, server],
      };
    }
    case "gone":
      return {
        servers: servers.filter(({ name }) => name !== event.server),
        ...(shown === event.server && { server: "demo" }),
      };
    case "progress":
      return withCall(state, event.call, { progress: event.progress });
    case "paused":
      return { pauses: [...pauses, event.pause] };
    case "resumed":
      return { pauses: pauses.filter(({ id }) => id !== event.pause) };
    case "resource_updated":
      return { updates: new Set([...updates, `${event.server} ${event.uri}`]) };
    case "resources_changed":
      return { changes: changes + 1 };
    case "ended":
      return { calls: [], call: undefined, looked: undefined };
    case "served": {
      const { artifacts, hasMore } = event;
      return { serve: { ...(state.serve ?? NOTHING), artifacts, hasMore } };
    }
    case "session_over":
      return { serve: { ...(state.serve ?? NOTHING), artifacts: [], hasMore: false, problem: OVER, isOver: true } };
    case "log": {
      const { level, server, text } = event;
      return { log: [{ at: now, level, server, text }, ...log].slice(0, MAX_LINES) };
    }
    default:
      return {};
  }
}
