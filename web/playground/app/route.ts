/**
 * The address of what the page shows, in the hash: it works on any static host.
 * @module
 */
import type { Shelf } from "../engine/shelves.js";
import { type State, type Store, VIEWS, type View } from "./state.js";

/** What an address names. */
export interface Route {
  readonly view: View;
  /** Try: the id of a call. */
  readonly call?: string;
  /** Try: a result that the address carries, compressed, in base64url. */
  readonly result?: string;
  /** Try: the tool of that result. */
  readonly title?: string;
  /** Tools: a tool, with its server's name. Try, guardrails: the tool of a call that is described, not named by its id. */
  readonly tool?: string;
  /** The arguments of that tool: strings as they are, other values as JSON. */
  readonly args?: Readonly<Record<string, string>>;
  /** Guardrails: a configuration, as JSON. */
  readonly config?: string;
  /** Chat: a question that is not asked yet. */
  readonly question?: string;
  /** Resources: a server. */
  readonly server?: string;
  /** Resources: the URI of a resource of that server, or a template. */
  readonly uri?: string;
  /** The artifact in the drawer. */
  readonly artifact?: { readonly shelf: Shelf; readonly id: string };
}

const SHELVES: readonly string[] = ["session", "files", "served", "served-files"] satisfies Shelf[];

/** Characters of the longest address that is read. */
const MAX_HASH = 16_384;

/** Half of a character, which no address can hold. */
const LONE = /\p{Surrogate}/gu;

/** Characters of arguments in an address: with more, a call has its id there. */
const MAX_ARGUMENTS = 2000;

/** Whether a server is the demo of the page itself, whose tools change nothing outside of it. */
export function isBuiltIn({ servers }: State, server: string): boolean {
  return server === "demo" && servers.some(({ name, kind }) => name === server && kind === "demo");
}

/** A call that opens for everybody: its tool and arguments, if the demo has made it and it has a result. */
function describeCall(state: State, id: string | undefined): Pick<Route, "tool" | "args"> | undefined {
  const call = state.calls.find((each) => each.id === id);
  if (call?.result === undefined || !isBuiltIn(state, call.server)) return undefined;
  const args = writeArguments(call.args);
  return JSON.stringify(args).length > MAX_ARGUMENTS ? undefined : { tool: call.tool, args };
}

/** Arguments as an address holds them. */
export function writeArguments(args: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
}

/** What the address should name while the page is in this state. */
export function toRoute(state: State): Route {
  const { view, call, tool, server, resource, preview, config, filled, question } = state;
  const described = view === "try" || view === "guardrails" ? describeCall(state, call) : undefined;
  return {
    view,
    ...(view === "try" && call !== undefined && (described ?? { call })),
    ...(view === "guardrails" && Object.keys(config).length > 0 && { ...described, config: JSON.stringify(config) }),
    ...(view === "chat" && question !== undefined && { question }),
    ...(view === "tools" && tool !== undefined && { tool }),
    ...(view === "tools" && filled !== undefined && filled.tool === tool && { args: writeArguments(filled.args) }),
    ...(view === "resources" && { server, ...(resource?.server === server && { uri: resource.uri }) }),
    ...(preview !== undefined && { artifact: { shelf: preview.shelf, id: preview.artifact.id } }),
  };
}

/** The hash of a route, such as `#/try/run/demo.sales_chart?kind=bar`. Other things than arguments of a tool have a dot before their names there. */
export function writeRoute({
  view,
  call,
  result,
  title,
  tool,
  args,
  config,
  question,
  server,
  uri,
  artifact,
}: Route): string {
  const isFile = view === "files" && artifact?.shelf === "files";
  const isRun = (view === "try" || view === "guardrails") && tool !== undefined;
  const dot = isRun || view === "tools" ? "." : "";
  const parts: string[] = [view];
  if (isRun) parts.push("run", tool);
  else if (view === "try" && call !== undefined) parts.push("call", call);
  else if (view === "try" && result !== undefined) parts.push("result", result);
  if (view === "tools" && tool !== undefined) parts.push(tool);
  if (view === "resources" && server !== undefined) parts.push(server);
  if (isFile) parts.push(artifact.id);
  const query = new URLSearchParams(isRun || view === "tools" ? args : undefined);
  if (view === "guardrails" && config !== undefined) query.set(".config", config);
  if (view === "chat" && question !== undefined) query.set("question", question);
  if (view === "try" && result !== undefined && title !== undefined) query.set("title", title);
  if (view === "resources" && server !== undefined && uri !== undefined) query.set("uri", uri);
  if (artifact !== undefined && !isFile) query.set(`${dot}artifact`, `${artifact.shelf}:${artifact.id}`);
  const said = query.size === 0 ? "" : `?${query.toString()}`;
  return `#/${parts.map((part) => encodeURIComponent(part.replace(LONE, "\uFFFD"))).join("/")}${said}`;
}

/** The route of a hash. What cannot be read is left out; never throws. */
export function parseRoute(hash: string): Route {
  const START: Route = { view: "try" };
  if (!hash.startsWith("#/") || hash.length > MAX_HASH) return START;
  const at = hash.indexOf("?");
  const query = new URLSearchParams(at === -1 ? "" : hash.slice(at));
  const parts = splitPath(hash.slice(2, at === -1 ? undefined : at));
  const view = ([...VIEWS, "elements"] as const).find((each) => each === parts[0]);
  if (view === undefined) return START;
  const isRun = parts[1] === "run";
  const artifact = artifactIn(
    view === "files" && parts[1]
      ? `files:${parts[1]}`
      : query.get(isRun || view === "tools" ? ".artifact" : "artifact"),
  );
  return { view, ...placeIn(view, parts, query), ...(artifact !== undefined && { artifact }) };
}

function placeIn(view: View, [, first, second]: readonly string[], query: URLSearchParams): Partial<Route> {
  const question = query.get("question");
  if (view === "chat" && question) return { question };
  const config = query.get(".config");
  const run = first === "run" && second ? { tool: second, args: readArguments(query) } : undefined;
  if (view === "guardrails") return { ...run, ...(config !== null && { config }) };
  if (view === "try" && run !== undefined) return run;
  if (!first) return {};
  if (view === "tools") {
    const args = readArguments(query);
    return { tool: first, ...(Object.keys(args).length > 0 && { args }) };
  }
  if (view === "resources") {
    const uri = query.get("uri");
    return { server: first, ...(uri !== null && uri !== "" && { uri }) };
  }
  if (view !== "try" || !second) return {};
  if (first === "call") return { call: second };
  const title = query.get("title");
  return first === "result" ? { result: second, ...(title !== null && { title }) } : {};
}

/** The arguments of a tool in an address. */
function readArguments(query: URLSearchParams): Readonly<Record<string, string>> {
  return Object.fromEntries([...query].filter(([name]) => !name.startsWith(".")));
}

function splitPath(path: string): readonly string[] {
  try {
    return path.split("/").map((part) => decodeURIComponent(part));
  } catch {
    // A malformed escape.
    return path.split("/", 1);
  }
}

function artifactIn(said: string | null): Route["artifact"] {
  const [shelf = "", ...rest] = said?.split(":") ?? [];
  const id = rest.join(":");
  return SHELVES.includes(shelf) && id !== "" ? { shelf: shelf as Shelf, id } : undefined;
}

/** Whether another resource is open, to which Back should lead. */
function isOther(before: Route, now: Route): boolean {
  return now.uri !== undefined && (before.uri !== now.uri || before.server !== now.server);
}

/** What an entry of the history knows: whether the entry before it is the same place without the drawer. */
interface Entry {
  readonly isDrawer?: boolean;
}

/** Keeps the address and the history in step with the state. */
export class AddressBar {
  readonly #store: Store;
  readonly #open: (route: Route) => void;
  #shown: Route = { view: "try" };
  /** It went back by itself, and the browser has not yet said so. */
  #isReturning = false;

  /** `open` shows a route that the person chose with Back, Forward or a link. */
  constructor(store: Store, open: (route: Route) => void) {
    this.#store = store;
    this.#open = open;
  }

  /** Starts with the state of now: the address that the page was opened with has been shown. */
  begin(): void {
    this.#shown = toRoute(this.#store.state);
    this.#replace();
    this.#store.listen(() => this.#sync());
    addEventListener("popstate", () => this.#onMove());
  }

  #sync(): void {
    if (this.#isReturning) return;
    const [before, now] = [this.#shown, toRoute(this.#store.state)];
    if (writeRoute(before) === writeRoute(now)) return;
    this.#shown = now;
    const isOpened = before.artifact === undefined && now.artifact !== undefined;
    const isClosed = before.artifact !== undefined && now.artifact === undefined;
    const isSameView = before.view === now.view;
    if (isSameView && isClosed && (history.state as Entry | null)?.isDrawer === true) {
      // Closing is going back, or Back would open the drawer again.
      this.#isReturning = true;
      history.back();
    } else if (!isSameView || isOpened || isOther(before, now)) {
      history.pushState({ isDrawer: isSameView && isOpened } satisfies Entry, "", writeRoute(now));
    } else this.#replace();
  }

  #replace(): void {
    history.replaceState(history.state, "", writeRoute(this.#shown));
  }

  #onMove(): void {
    if (this.#isReturning) {
      this.#isReturning = false;
      this.#replace();
      // What changed meanwhile.
      this.#sync();
      return;
    }
    const route = parseRoute(location.hash);
    // What the state will be, if all of it is found; what is gone is corrected by the next change.
    this.#shown = route;
    this.#open(route);
  }
}
