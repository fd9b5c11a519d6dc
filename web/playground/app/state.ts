/**
 * The state of the page in one place: views show it; actions and events of the engine change it.
 * @module
 */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import type { SluiceConfig } from "mcp-sluice";
import type { ShownArtifact } from "mcp-sluice/ui";
import type {
  CallRequest,
  EngineEvent,
  Problem,
  ServedListing,
  ServeOffer,
  ShownFile,
  ShownPause,
  ShownProgress,
  ShownResult,
  ShownServer,
  ShownSpace,
} from "../engine/messages.js";
import type { Shelf } from "../engine/shelves.js";

/** The views, in the order of the rail. */
export const VIEWS = ["try", "tools", "resources", "files", "chat", "guardrails", "log"] as const;
/** A view; of the elements there is no button in the rail. */
export type View = (typeof VIEWS)[number] | "elements";

/** A tool call or a dropped file, from its start to its result. */
export interface ShownCall extends CallRequest {
  readonly title: string;
  readonly state: "running" | "done" | "failed" | "cancelled";
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly progress?: ShownProgress;
  readonly problem?: Problem;
  readonly result?: ShownResult;
  /** The call continues in the background; a notification tells when it ends. */
  readonly inBackground?: boolean;
  /** The artifacts of its result are not all there any more. */
  readonly isExpired?: boolean;
  /** The dropped file. Not remembered over a reload. */
  readonly file?: File;
  /** Outcomes of reading linked resources, by link id. */
  readonly fetched?: Readonly<Record<string, Fetched>>;
}

/** The outcome of reading a linked resource. Empty while it is being read. */
export interface Fetched {
  readonly problem?: Problem;
  readonly artifacts?: readonly ShownArtifact[];
}

/** A notification. */
export interface Notice {
  readonly id: string;
  readonly level: "info" | "warn" | "bad";
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The id of the call that it is about. */
  readonly call?: string;
  /** It was already shown as the answer to an action. */
  readonly isAnswer?: boolean;
}

/** The outcome of the last action, when nothing else on the page shows it. */
interface Answer {
  readonly text: string;
  readonly isBad: boolean;
}

/** A line of the log. */
interface LogLine {
  readonly at: number;
  readonly level: "info" | "warn" | "bad";
  readonly server: string;
  readonly text: string;
  /** The id of the call that it is about. */
  readonly call?: string;
}

/** An artifact and the shelf that it is on. */
export interface Placed {
  readonly artifact: ShownArtifact;
  readonly shelf: Shelf;
}

/** What the drawer shows. */
export interface Preview extends Placed {
  /** It takes the place of the view. */
  readonly isWide: boolean;
  /** Files that stay open above it, the oldest first. */
  readonly before?: readonly Placed[];
  /** It takes half of the window, beside the view. */
  readonly isHalf?: boolean;
  /** A tool opened it, so the focus does not move. */
  readonly isByTool?: boolean;
}

/** The session at the server that the page comes from. */
interface ShownServe extends Pick<ServeOffer, "sources" | "chat">, ServedListing {
  /** Why there is no session. */
  readonly problem?: Problem;
  /** There was a session, and it ended. */
  readonly isOver?: boolean;
}

export type Theme = "system" | "light" | "dark";

/** The whole state. */
export interface State {
  readonly view: View;
  readonly isReady: boolean;
  /** Why the engine could not start. */
  readonly problem: Problem | undefined;
  readonly servers: readonly ShownServer[];
  /** The name of the current server. */
  readonly server: string;
  /** The name of the selected tool. */
  readonly tool: string | undefined;
  /** Arguments that an address filled in for a tool, which waits for its button. */
  readonly filled: { readonly tool: string; readonly args: Readonly<Record<string, unknown>> } | undefined;
  /** A question that an address filled in, which waits for its button. */
  readonly question: string | undefined;
  /** The resource that is open, or the template. */
  readonly resource: { readonly server: string; readonly uri: string } | undefined;
  /** Newest first. */
  readonly calls: readonly ShownCall[];
  /** The id of the current call. */
  readonly call: string | undefined;
  readonly pauses: readonly ShownPause[];
  readonly files: readonly ShownFile[];
  /** Known before `files` is loaded. */
  readonly fileCount: number;
  readonly space: ShownSpace;
  readonly preview: Preview | undefined;
  /** Undefined on a static site, and until the server has answered. */
  readonly serve: ShownServe | undefined;
  /** Shown until the next action. */
  readonly answer: Answer | undefined;
  readonly config: SluiceConfig;
  readonly notices: readonly Notice[];
  readonly unread: number;
  /** Newest first. */
  readonly log: readonly LogLine[];
  /** `{server} {uri}` of each resource that changed since it was read. */
  readonly updates: ReadonlySet<string>;
  /** Counts changes of the servers' resource lists. */
  readonly changes: number;
  /** Counts reports of new JSON-RPC messages. */
  readonly exchanges: number;
  /** The chat is answering a question. */
  readonly isChatting: boolean;
  readonly isOnline: boolean;
  readonly theme: Theme;
  /** A newer version of the page is ready to install. */
  readonly isOutdated: boolean;
  /** Counts the sessions of this visit. */
  readonly session: number;
}

const START: State = {
  view: "try",
  isReady: false,
  problem: undefined,
  servers: [],
  server: "demo",
  tool: undefined,
  filled: undefined,
  question: undefined,
  resource: undefined,
  calls: [],
  call: undefined,
  pauses: [],
  files: [],
  fileCount: 0,
  space: { used: 0, quota: 0 },
  preview: undefined,
  serve: undefined,
  answer: undefined,
  config: {},
  notices: [],
  unread: 0,
  log: [],
  updates: new Set(),
  changes: 0,
  exchanges: 0,
  isChatting: false,
  isOnline: true,
  theme: "system",
  isOutdated: false,
  session: 1,
};

/** The changes that the end of a session makes to the state: what is left is of the browser, not of the session. */
export function afterEnd({ files, fileCount, space, config, isOnline, theme, isOutdated, session }: State): State {
  return { ...START, files, fileCount, space, config, isOnline, theme, isOutdated, session: session + 1 };
}

/** Holds the state and notifies listeners of changes. */
export class Store {
  #state = START;
  readonly #listeners = new Set<() => void>();

  get state(): State {
    return this.#state;
  }

  /** Changes some properties. */
  set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Changes one call. */
  setCall(id: string, change: Partial<ShownCall>): void {
    this.set(withCall(this.#state, id, change));
  }

  /** Calls `listener` after each change. Returns a function that removes it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** The calls with one of them changed. */
function withCall({ calls }: State, id: string, change: Partial<ShownCall>): Pick<State, "calls"> {
  return { calls: calls.map((call) => (call.id === id ? { ...call, ...change } : call)) };
}

/** Updates an element when the state changes. */
export class StoreController implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #store: () => Store | undefined;
  #end: (() => void) | undefined;

  constructor(host: ReactiveControllerHost, store: () => Store | undefined) {
    this.#host = host;
    this.#store = store;
  }

  hostConnected(): void {
    this.#listen();
  }

  /** A lazily defined element gets its properties only now. */
  hostUpdate(): void {
    this.#listen();
  }

  hostDisconnected(): void {
    this.#end?.();
    this.#end = undefined;
  }

  #listen(): void {
    this.#end ??= this.#store()?.listen(() => this.#host.requestUpdate());
  }
}

/** The current call. */
export function currentCall({ calls, call }: State): ShownCall | undefined {
  return calls.find(({ id }) => id === call);
}

/** The current server. */
export function currentServer({ servers, server }: State): ShownServer | undefined {
  return servers.find(({ name }) => name === server);
}

/** The shelf that an artifact is on. */
export function findShelf(artifact: ShownArtifact): Shelf {
  const isFile = artifact.source?.["user_file"] !== undefined;
  if ("served" in artifact) return isFile ? "served-files" : "served";
  return isFile ? "files" : "session";
}

/** Decoded bytes that a result stored. */
export function countStoredBytes({ artifacts }: ShownResult): number {
  return artifacts.reduce(
    (sum, { size_bytes = 0, source }) => sum + (source?.["truncated"] === true ? 0 : size_bytes),
    0,
  );
}

/** Limits of the lists; older entries are dropped. */
const MAX_CALLS = 50;
const MAX_NOTICES = 50;

/** The state with a new call as the current one. */
export function withNewCall(
  { calls }: State,
  call: Omit<ShownCall, "state" | "startedAt">,
): Pick<State, "calls" | "call"> {
  const begun: ShownCall = { ...call, state: "running", startedAt: Date.now() };
  return { calls: [begun, ...calls].slice(0, MAX_CALLS), call: call.id };
}

/** The state with a new notification. */
export function withNotice(
  { notices, unread }: State,
  notice: Omit<Notice, "id" | "at">,
): Pick<State, "notices" | "unread"> {
  const told: Notice = { ...notice, id: crypto.randomUUID(), at: Date.now() };
  return { notices: [told, ...notices].slice(0, MAX_NOTICES), unread: unread + 1 };
}

/** Lines of the log; older ones are dropped. */
const MAX_LINES = 500;

/** The state with one more line of the log. */
export function addLogLine({ log }: State, line: LogLine): Pick<State, "log"> {
  return { log: [line, ...log].slice(0, MAX_LINES) };
}

/** The page's server before its first answer. */
export const NOTHING: ShownServe = { sources: [], chat: false, artifacts: [], hasMore: false };

const OVER: Problem = {
  code: "E_SESSION",
  message: "Your session on this page's server has ended, and what it stored was deleted.",
};

/** The changes that an event of the engine makes to the state. `now` is in milliseconds since 1970. */
export function changeBy(state: State, event: EngineEvent, now: number): Partial<State> {
  const { servers, pauses, updates, changes, server: shown } = state;
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
    case "exchanged":
      return { exchanges: state.exchanges + 1 };
    case "ended":
      return { calls: [], call: undefined, preview: undefined };
    case "served": {
      const { artifacts, hasMore } = event;
      return { serve: { ...(state.serve ?? NOTHING), artifacts, hasMore } };
    }
    case "session_over":
      return { serve: { ...(state.serve ?? NOTHING), artifacts: [], hasMore: false, problem: OVER, isOver: true } };
    case "log": {
      const { level, server, text } = event;
      return addLogLine(state, { at: now, level, server, text });
    }
    default:
      return {};
  }
}
