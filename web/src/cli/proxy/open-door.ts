/**
 * The doors of a proxy, as its command line asks for them.
 * @module
 */
import { configured } from "../../artifacts/retention/retaining-store.js";
import type { RetentionConfig } from "../../artifacts/retention/policy.js";
import { createSluiceOver } from "../../core/create.js";
import { Door, type DoorTerms, type LinkMode } from "../../mcp/door.js";
import { readDoor, withoutDoor } from "../../mcp/door-config.js";
import type { SchemaMode } from "../../mcp/schemas.js";
import type { Invocation } from "../commands.js";
import { UsageError } from "../exit.js";
import { readConfig } from "../configuration.js";
import { openStore, prepareStore } from "../store.js";
import type { Terminal } from "../terminal.js";
import { Copies } from "../../artifacts/private-folder.js";
import { logOf } from "./log.js";
import { namespaceOfCommand, namespaceOfUrl } from "./namespace.js";
import { SessionStore } from "./session-store.js";

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
export interface OpenDoors extends AsyncDisposable {
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
  const session = invocation.value("store") === "session" ? await SessionStore.open() : undefined;
  const bare = session?.store ?? openStore(invocation.value("store"));
  const limited = { ...said, retention: { ...RETENTION, ...said.retention } };
  const { store, config } = configured(bare, limited);
  const { on_store_failure, arguments: forms, share } = readDoor(config);
  const onFailure = on_store_failure === "error" ? "throw" : "answer";
  const copies = new Copies(store);
  const { operands } = invocation;
  const terms: DoorTerms = {
    sluice: await createSluiceOver({ store, onFailure }, withoutDoor(config)),
    store,
    scope: {},
    namespace:
      checkedNamespace(invocation.value("namespace")) ??
      (url === undefined ? namespaceOfCommand(operands) : namespaceOfUrl(url)),
    forms,
    share,
    writeCopy: (ref, signal) => copies.write(ref, signal),
    links: (invocation.value("links") ?? "auto") as LinkMode,
    showImages: invocation.has("inline-images"),
    schemas: (invocation.value("schemas") ?? "widen") as SchemaMode,
    onEvent: logOf(terminal.errors),
  };
  // Last, so that a command line that is wrong in another way makes no folder.
  if (session === undefined) await prepareStore(invocation.value("store"));
  return {
    open: (user) => new Door(user === undefined ? terms : { ...terms, scope: { user_id: user } }),
    [Symbol.asyncDispose]: async () => {
      await copies[Symbol.asyncDispose]();
      await session?.[Symbol.asyncDispose]();
    },
  };
}
