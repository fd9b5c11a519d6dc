/**
 * The doors of a proxy, as its command line asks for them, and those of clients that come over HTTP.
 * @module
 */
import { createHash } from "node:crypto";
import { Copies } from "../../artifacts/private-folder.js";
import { FileArtifactStore } from "../../artifacts/file/file-store.js";
import type { RetentionConfig } from "../../artifacts/retention/policy.js";
import { Door, type DoorEvent, type DoorTerms, type LinkMode } from "../../mcp/door.js";
import { doorTerms } from "../../mcp/open-door.js";
import type { SchemaMode } from "../../mcp/schemas.js";
import type { Invocation } from "../commands.js";
import { readConfig } from "../configuration.js";
import { UsageError } from "../exit.js";
import { openStore, prepareStore, sessionFolder } from "../store.js";
import { printable, type Output, type Terminal } from "../terminal.js";
import { namespaceOfCommand, namespaceOfUrl } from "./namespace.js";

const DAY = 86_400;
const GB = 1_000_000_000;

/** What a proxy keeps, where a configuration says nothing else (design §6). */
const RETENTION: RetentionConfig = {
  ttl_seconds: 7 * DAY,
  ttl_from: "used",
  max_artifact_bytes: null,
  max_session_bytes: null,
  max_trace_bytes: null,
  max_artifacts_per_session: null,
  max_artifacts_per_trace: null,
  max_namespace_bytes: 4 * GB,
  max_total_bytes: 10 * GB,
  min_free_disk: 0.1,
  min_age_seconds: 3600,
  cleanup_strategy: "lru",
};

/** What makes doors, and what has to be cleared up behind them. */
interface OpenDoors extends AsyncDisposable {
  /** A door for one more client; what it stores belongs to `user`, where clients are told apart. */
  readonly open: (user?: string) => Door;
}

/** It becomes a part of a tool's name, which has fewer letters than an id. */
function checkedNamespace(namespace: string | undefined): string | undefined {
  if (namespace === undefined || /^[A-Za-z0-9_-]{1,40}$/.test(namespace)) return namespace;
  throw new UsageError("--namespace is 1 to 40 letters, digits, - or _", "proxy");
}

/**
 * `url` is that of a server that is no command. Throws UsageError, E_CONFIG_…, CommandError where nothing can be stored.
 */
export async function openProxyDoors(invocation: Invocation, terminal: Terminal, url?: URL): Promise<OpenDoors> {
  const file = invocation.value("config");
  const said = file === undefined ? {} : await readConfig(file);
  const place = invocation.value("store");
  const session =
    place === "session" ? await sessionFolder(" for --store session", "a store with --store DIR") : undefined;
  const common = await doorTerms({
    store: session === undefined ? openStore(place) : new FileArtifactStore(session.path),
    config: { ...said, retention: { ...RETENTION, ...said.retention } },
    namespace:
      checkedNamespace(invocation.value("namespace")) ??
      (url === undefined ? namespaceOfCommand(invocation.operands) : namespaceOfUrl(url)),
    links: (invocation.value("links") ?? "auto") as LinkMode,
    showImages: invocation.has("inline-images"),
    schemas: (invocation.value("schemas") ?? "widen") as SchemaMode,
    onEvent: logOf(terminal.errors),
  });
  const copies = new Copies(common.store);
  const terms: DoorTerms = { ...common, writeCopy: (ref, signal) => copies.write(ref, signal) };
  // Last, so that a command line that is wrong in another way makes no folder.
  if (session === undefined) await prepareStore(place);
  return {
    open: (user) => new Door(user === undefined ? terms : { ...terms, scope: { user_id: user } }),
    [Symbol.asyncDispose]: async () => {
      await copies[Symbol.asyncDispose]();
      await session?.[Symbol.asyncDispose]();
    },
  };
}

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

/** Characters of a line: names come from servers. */
const MAX_LINE = 1000;

/** Writes what happens at a door; it does not wait for whoever reads it. */
export function logOf(errors: Output): (event: DoorEvent) => void {
  return (event) => {
    for (const line of linesOf(event))
      void errors.write(`sluice: ${printable(line.slice(0, MAX_LINE))}\n`).catch(() => undefined);
  };
}

function linesOf(event: DoorEvent): readonly string[] {
  if (event.kind === "failed") return [event.error.message];
  if (event.kind === "expanded") {
    return [`${event.tool}: ${event.id} was put into its argument ${event.path} as ${event.form}`];
  }
  return event.artifacts.map(({ id, source }) => {
    const what = typeof source["description"] === "string" ? source["description"] : "content";
    const where = source["truncated"] === true ? "could not be stored" : `stored as ${id}`;
    return `${event.tool ?? "a message"}: ${what}: ${where}`;
  });
}
