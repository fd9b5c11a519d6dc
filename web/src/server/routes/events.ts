/**
 * `GET /events`.
 * @module
 */
import { Hono } from "hono";
import { sessionChannel } from "../events/announcer.js";
import { isEventId } from "../events/event-log.js";
import { eventStream, type SentEvent } from "../http/sse.js";
import { methodRefused } from "../refusals.js";
import type { ServeEnv, ServeDeps } from "../deps.js";

/** What happens in the session, as server-sent events; with `Last-Event-ID` from there on. */
export function eventRoutes({ state, sources, over }: ServeDeps): Hono<ServeEnv> {
  return new Hono<ServeEnv>()
    .get("/", (c) => {
      const said = c.req.header("last-event-id");
      const after = said !== undefined && isEventId(said) ? said : null;
      const session = c.get("session");
      const { id, expires_at } = session;
      const events = async function* (signal: AbortSignal): AsyncIterable<SentEvent> {
        const watching = sources.watch(session, after !== null);
        try {
          for await (const { id: at, event } of state.events.follow(sessionChannel(id), { after, signal })) {
            yield { id: at, data: event };
          }
        } finally {
          watching[Symbol.dispose]();
        }
      };
      return eventStream(events, over, expires_at);
    })
    .all("/", () => methodRefused("GET, HEAD"));
}
