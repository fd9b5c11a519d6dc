/**
 * What the page knows, in one place: views show it, actions change it.
 * @module
 */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import type { SluiceConfig } from "mcp-sluice";
import type { ShownArtifact } from "mcp-sluice/ui";
import type {
  CallRequest,
  Problem,
  ShownFile,
  ShownPause,
  ShownProgress,
  ShownResult,
  ShownServer,
  ShownSpace,
} from "../engine/contract.js";
import type { ServedListing, ServeOffer } from "../engine/serve/contract.js";
import type { Shelf } from "../engine/shelves.js";

/** The places of the rail. */
export const VIEWS = ["try", "tools", "resources", "files", "chat", "guardrails", "log"] as const;
export type View = (typeof VIEWS)[number];

/** A call, or a file that was dropped, from its beginning to its result. */
export interface ShownCall extends CallRequest {
  readonly title: string;
  readonly state: "running" | "done" | "failed" | "cancelled";
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly progress?: ShownProgress;
  readonly problem?: Problem;
  readonly result?: ShownResult;
  /** A person does something else meanwhile, and is told when it ends. */
  readonly inBackground?: boolean;
  /** What was dropped. */
  readonly file?: File;
  /** What came of resources that its result names, by the ids of the links. */
  readonly fetched?: Readonly<Record<string, Fetched>>;
}

/** What came of reading a resource: nothing yet, why there is none, or what was stored of it. */
export interface Fetched {
  readonly problem?: Problem;
  readonly artifacts?: readonly ShownArtifact[];
}

/** Something that a person should know, and may have missed. */
export interface Notice {
  readonly id: string;
  readonly level: "info" | "warn" | "bad";
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The call that it is about. */
  readonly call?: string;
  /** It was said at once where the person looked. */
  readonly isAnswer?: boolean;
}

/** What came of what a person did last, where nothing else on the page shows it. */
export interface Answer {
  readonly text: string;
  readonly isBad: boolean;
}

/** A line of the log. */
export interface LogLine {
  readonly at: number;
  readonly level: "info" | "warn";
  readonly server: string;
  readonly text: string;
}

/** An artifact, and where it lies. */
export interface Placed {
  readonly artifact: ShownArtifact;
  readonly shelf: Shelf;
}

/** What is looked at in the drawer. */
export interface Looked extends Placed {
  /** As large as there is room. */
  readonly isWide: boolean;
  /** What was opened before and stays, the oldest first. */
  readonly before?: readonly Placed[];
  /** As large as the work, which stays in sight. */
  readonly isHalf?: boolean;
  /** A tool opened it: the person is left where they are. */
  readonly isByTool?: boolean;
}

/** The session at the server that the page comes from. */
export interface ShownServe extends Pick<ServeOffer, "sources" | "chat">, ServedListing {
  /** It is over, or could not be begun. */
  readonly problem?: Problem;
  /** There was one. */
  readonly isOver?: boolean;
}

export type Theme = "system" | "light" | "dark";

/** All of it. */
export interface State {
  readonly view: View;
  readonly isReady: boolean;
  /** Why nothing works here. */
  readonly problem: Problem | undefined;
  readonly servers: readonly ShownServer[];
  /** The name of the server whose tools and resources are shown. */
  readonly server: string;
  /** The name of the tool whose form is shown. */
  readonly tool: string | undefined;
  /** The newest first. */
  readonly calls: readonly ShownCall[];
  /** The id of the call whose result is in view. */
  readonly call: string | undefined;
  readonly pauses: readonly ShownPause[];
  readonly files: readonly ShownFile[];
  /** How many files there are, which is known before they are. */
  readonly fileCount: number;
  readonly space: ShownSpace;
  readonly looked: Looked | undefined;
  /** Undefined where the page comes from no server of Sluice, and until that has answered. */
  readonly serve: ShownServe | undefined;
  /** Stands until something else is done. */
  readonly answer: Answer | undefined;
  readonly config: SluiceConfig;
  readonly notices: readonly Notice[];
  readonly unread: number;
  /** The newest first. */
  readonly log: readonly LogLine[];
  /** `{server} {uri}` of resources that changed since they were read. */
  readonly updates: ReadonlySet<string>;
  /** How often a server's lists changed. */
  readonly changes: number;
  /** A question of the chat goes on. */
  readonly isChatting: boolean;
  readonly isOnline: boolean;
  readonly theme: Theme;
  /** There is a newer version, which waits. */
  readonly isOutdated: boolean;
}

const START: State = {
  view: "try",
  isReady: false,
  problem: undefined,
  servers: [],
  server: "demo",
  tool: undefined,
  calls: [],
  call: undefined,
  pauses: [],
  files: [],
  fileCount: 0,
  space: { used: 0, quota: 0 },
  looked: undefined,
  serve: undefined,
  answer: undefined,
  config: {},
  notices: [],
  unread: 0,
  log: [],
  updates: new Set(),
  changes: 0,
  isChatting: false,
  isOnline: true,
  theme: "system",
  isOutdated: false,
};

/** Holds the state, and tells who shows it. */
export class Store {
  #state = START;
  readonly #listeners = new Set<() => void>();

  get state(): State {
    return this.#state;
  }

  /** Changes some of it. */
  set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Changes one call, wherever it is by now. */
  setCall(id: string, change: Partial<ShownCall>): void {
    this.set(withCall(this.#state, id, change));
  }

  /** Gives back what ends it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** One call changed, wherever it is by now. */
export function withCall({ calls }: State, id: string, change: Partial<ShownCall>): Pick<State, "calls"> {
  return { calls: calls.map((call) => (call.id === id ? { ...call, ...change } : call)) };
}

/** Draws an element again when the state changes. */
export class Showing implements ReactiveController {
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

  /** An element that is upgraded late has its properties only now. */
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

/** The call whose result is in view. */
export function currentCall({ calls, call }: State): ShownCall | undefined {
  return calls.find(({ id }) => id === call);
}

/** The server whose tools and resources are shown. */
export function currentServer({ servers, server }: State): ShownServer | undefined {
  return servers.find(({ name }) => name === server);
}

/** Where an artifact lies: a version of a user's file says so, and so does what the server keeps. */
export function shelfOf(artifact: ShownArtifact): Shelf {
  const isFile = artifact.source?.["user_file"] !== undefined;
  if ("served" in artifact) return isFile ? "served-files" : "served";
  return isFile ? "files" : "session";
}

/** Bytes of a result that are stored, decoded. */
export function storedBytes({ artifacts }: ShownResult): number {
  return artifacts.reduce(
    (sum, { size_bytes = 0, source }) => sum + (source?.["truncated"] === true ? 0 : size_bytes),
    0,
  );
}
