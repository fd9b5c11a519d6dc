/**
 * The doors of clients that come over HTTP, by what tells clients apart.
 * @module
 */
import { createHash } from "node:crypto";
import type { Door } from "../../mcp/door.js";

/** Doors that are kept: a client whose door has gone gets a new one, which knows less of it. */
const MAX_DOORS = 256;

/** The doors that were used last. */
export class Doors {
  readonly #open: (user?: string) => Door;
  readonly #doors = new Map<string, Door>();

  constructor(open: (user?: string) => Door) {
    this.#open = open;
  }

  /** The door of a client, if it has one. */
  find(key: string): Door | undefined {
    const door = this.#doors.get(key);
    if (door !== undefined) this.keep(key, door);
    return door;
  }

  /** A new door. What goes through it belongs to whoever has this authorization, and is found by nobody else. */
  open(authorization: string | null): Door {
    return authorization === null ? this.#open() : this.#open(userOf(authorization));
  }

  keep(key: string, door: Door): void {
    this.#doors.delete(key);
    this.#doors.set(key, door);
    if (this.#doors.size <= MAX_DOORS) return;
    const [oldest] = this.#doors.keys();
    if (oldest !== undefined) this.#doors.delete(oldest);
  }

  drop(key: string): void {
    this.#doors.delete(key);
  }
}

/** Who has an authorization, as artifacts are marked: the token itself is kept nowhere. */
function userOf(authorization: string): string {
  return `authorization-${createHash("sha256").update(authorization).digest("hex").slice(0, 32)}`;
}

/** What tells a client apart: its session, and who it is. Neither is kept in the clear. */
export function clientKey(session: string | null, authorization: string | null): string {
  return createHash("sha256")
    .update(JSON.stringify([session, authorization]))
    .digest("base64");
}
