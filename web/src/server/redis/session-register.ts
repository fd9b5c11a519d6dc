/**
 * Sessions in Redis.
 * @module
 */
import type { Clock } from "../../artifacts/store.js";
import { isDone, textOf, textsOf } from "../../planner/redis-state/server.js";
import { valueOf } from "../../planner/state-store.js";
import type { ServedSession } from "../sessions/session.js";
import {
  MAX_SESSIONS,
  MAX_SUBSCRIPTIONS,
  MAX_TRACES,
  type EndedSession,
  type SessionRegister,
  type Subscription,
} from "../sessions/session-register.js";
import { hashOf, type Place, type ScriptRunner } from "./place.js";
import { ADD, BEGIN, END, FIND, MEMBERS, REMOVE } from "./session-scripts.js";

type Kind = "traces" | "subscriptions";

/** What a register in Redis is made of. */
export interface RedisRegisterParts {
  readonly server: ScriptRunner;
  readonly place: Place;
  /** Sessions that are kept, those that would be over first make room; {@link MAX_SESSIONS} when left out. */
  readonly maxSessions?: number;
  /** What sessions are over by beside the server's clock; `Date.now` when left out. */
  readonly clock?: Clock;
}

/** Remembers for all processes that have the same server and prefix. Everything of a session goes by itself when it is over. */
export class RedisSessionRegister implements SessionRegister {
  readonly #server: ScriptRunner;
  readonly #place: Place;
  readonly #most: string;
  readonly #clock: Clock;

  constructor({ server, place, maxSessions = MAX_SESSIONS, clock = Date.now }: RedisRegisterParts) {
    this.#server = server;
    this.#place = place;
    this.#most = String(maxSessions);
    this.#clock = clock;
  }

  async begin(session: ServedSession): Promise<void> {
    const hash = hashOf(session.id);
    const words = [hash, String(Math.floor(session.expires_at)), this.#most, JSON.stringify(session)];
    isDone(await this.#server.run(BEGIN, this.#keys(hash), words));
  }

  async find(id: string): Promise<ServedSession | null> {
    const text = textOf(await this.#server.run(FIND, [this.#keyOf(hashOf(id))], []));
    const session = valueOf(text) as ServedSession | null;
    return session !== null && session.expires_at > this.#clock() ? session : null;
  }

  async end(id: string): Promise<EndedSession | null> {
    const hash = hashOf(id);
    const reply = await this.#server.run(END, this.#keys(hash), [hash]);
    const [text = null, ...traces] = reply === null ? [] : textsOf(reply);
    const session = valueOf(text) as ServedSession | null;
    return session !== null && session.expires_at > this.#clock() ? { session, traces } : null;
  }

  addTrace(id: string, trace: string): Promise<boolean> {
    return this.#add(id, "traces", trace, MAX_TRACES);
  }

  traces(id: string): Promise<readonly string[]> {
    return this.#members(id, "traces");
  }

  subscribe(id: string, subscription: Subscription): Promise<boolean> {
    return this.#add(id, "subscriptions", memberOf(subscription), MAX_SUBSCRIPTIONS);
  }

  async unsubscribe(id: string, subscription: Subscription): Promise<boolean> {
    return isDone(await this.#server.run(REMOVE, this.#pair(id, "subscriptions"), [memberOf(subscription)]));
  }

  async subscriptions(id: string): Promise<readonly Subscription[]> {
    const members = await this.#members(id, "subscriptions");
    return members.map((member) => {
      const [namespace, uri] = valueOf(member) as readonly [string, string];
      return { namespace, uri };
    });
  }

  async #add(id: string, kind: Kind, member: string, most: number): Promise<boolean> {
    return isDone(await this.#server.run(ADD, this.#pair(id, kind), [member, String(most)]));
  }

  async #members(id: string, kind: Kind): Promise<readonly string[]> {
    return textsOf(await this.#server.run(MEMBERS, this.#pair(id, kind), []));
  }

  #keyOf(hash: string): string {
    return this.#place.one("sessions", hash);
  }

  #pair(id: string, kind: Kind): readonly [string, string] {
    const key = this.#keyOf(hashOf(id));
    return [key, `${key}:${kind}`];
  }

  #keys(hash: string): readonly string[] {
    const key = this.#keyOf(hash);
    return [key, `${key}:traces`, `${key}:subscriptions`, this.#place.all("sessions")];
  }
}

function memberOf({ namespace, uri }: Subscription): string {
  return JSON.stringify([namespace, uri]);
}
