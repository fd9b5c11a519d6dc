/**
 * Shows what an address names, and says what is gone. Loaded when an address names more than a view.
 * @module
 */
import type { Actions } from "./actions.js";
import { isServed, type Shelf } from "../engine/shelves.js";
import { isBuiltIn, type Route } from "./route.js";
import { unpackResult } from "./call/shared-result.js";
import { toObject } from "./call/schema.js";
import type { ShownServer } from "../engine/messages.js";

/** Shows a route. What is gone is said in one sentence; the rest is shown. */
export async function openRoute(route: Route, actions: Actions): Promise<void> {
  const { store } = actions;
  const { view, call, tool, args, server, uri, artifact } = route;
  const { servers, calls, preview } = store.state;
  const isRun = tool !== undefined && (view === "try" || view === "guardrails");
  const isSame = preview?.artifact.id === artifact?.id && preview?.shelf === artifact?.shelf;
  const ofTool = tool?.slice(0, Math.max(0, tool.indexOf(".")));
  const named = server ?? ofTool;
  const offered = servers.find(({ name }) => name === named);
  // Whether the server still lists the resource is found out where its list is shown.
  const resource = offered === undefined || uri === undefined ? undefined : { server: offered.name, uri };
  // All at once, or the address would follow what is shown in between.
  store.set({
    view: isRun && offered !== undefined && !isBuiltIn(store.state, offered.name) ? "tools" : view,
    answer: undefined,
    question: route.question,
    ...(!isSame && { preview: undefined }),
    ...(calls.some(({ id }) => id === call) && { call }),
    ...(offered !== undefined && { server: offered.name }),
    ...(view === "resources" && { resource }),
  });
  if (named !== undefined && offered === undefined)
    tellGone(actions, `${named} is not connected here: connect it first.`);
  else if (offered !== undefined) {
    const isOffered = offered.status !== "ready" || offered.tools.some(({ name }) => name === tool);
    if (tool !== undefined && isOffered) openTool(tool, args ?? {}, isRun, offered, actions);
    else if (tool !== undefined) tellGone(actions, `${offered.name} has no tool named ${tool}.`);
  }
  if (call !== undefined && store.state.call !== call && !(await actions.recall(call))) {
    tellGone(actions, "The call in this address is not in this browser any more: run its tool again.");
  }
  if (route.config !== undefined) await openConfig(route.config, actions);
  if (route.result !== undefined) await openResult(route.result, route.title, actions);
  if (artifact === undefined || isSame) return;
  const { shelf, id } = artifact;
  if (isServed(shelf)) void openServed(shelf, id, actions);
  else await openArtifact(shelf, id, actions);
}

/** Shows a tool with what an address fills in. Only the tools of the page's own demo are called by an address: they change nothing. */
function openTool(
  tool: string,
  written: Readonly<Record<string, string>>,
  isRun: boolean,
  server: ShownServer,
  actions: Actions,
): void {
  const { store } = actions;
  const listed = server.tools.find(({ name }) => name === tool);
  const args = parseArguments(written, listed?.schema);
  if (!isRun || !isBuiltIn(store.state, server.name)) {
    const isFilled = Object.keys(args).length > 0;
    store.set({ tool, filled: isFilled ? { tool, args } : undefined });
    if (isFilled || isRun) tellFilled(actions, tool);
    return;
  }
  const wanted = JSON.stringify(args);
  const same = store.state.calls.find(
    (call) => call.tool === tool && call.result !== undefined && JSON.stringify(call.args) === wanted,
  );
  if (same !== undefined && same.isExpired !== true) store.set({ call: same.id });
  else void actions.run(tool, args);
}

function tellFilled({ store }: Actions, tool: string): void {
  store.set({
    answer: { text: `This address asks for a call of ${tool}. Look at it, then run it yourself.`, isBad: false },
  });
}

/** Arguments of an address as the schema wants them: JSON where it is JSON, else text. */
function parseArguments(written: Readonly<Record<string, string>>, schema: unknown): Readonly<Record<string, unknown>> {
  const { properties } = toObject(schema);
  const parse = (name: string, text: string): unknown => {
    if (toObject(toObject(properties)[name])["type"] === "string") return text;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  };
  return Object.fromEntries(Object.entries(written).map(([name, text]) => [name, parse(name, text)]));
}

/** Applies the guardrails of an address. They are not remembered: a reload of another address has the visitor's own again. */
async function openConfig(text: string, actions: Actions): Promise<void> {
  const { parseConfig } = await import("./views/guardrails-view.js");
  const read = parseConfig(text);
  const problem = "problem" in read ? read.problem : await actions.configure(read.config, { isKept: false });
  if (problem !== undefined) tellGone(actions, `The guardrails in this address do not hold: ${problem.message}`);
}

/** What the page's server holds is known once there is a session, for which the page does not wait. */
async function openServed(shelf: Shelf, id: string, actions: Actions): Promise<void> {
  const { store } = actions;
  const { view } = store.state;
  await actions.whenReady();
  // A person who has moved on meanwhile stays there.
  if (store.state.view === view && store.state.preview === undefined) await openArtifact(shelf, id, actions);
}

async function openArtifact(shelf: Shelf, id: string, actions: Actions): Promise<void> {
  const found = await actions.find(shelf, id).catch(() => undefined);
  if (found !== undefined) actions.preview(found, shelf);
  else tellGone(actions, "The artifact in this address has expired or was deleted: call its tool again.");
}

async function openResult(data: string, title = "shared", actions: Actions): Promise<void> {
  try {
    const json = await unpackResult(data);
    await actions.take(new File([json], `${title}.json`, { type: "application/json" }));
  } catch (error) {
    tellGone(
      actions,
      error instanceof RangeError ? error.message : "The result in this address is damaged: copy it again.",
    );
  }
}

function tellGone(actions: Actions, text: string): void {
  actions.store.set({ answer: { text, isBad: true } });
}
