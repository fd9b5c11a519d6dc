/**
 * Shows what an address names, and says what is gone. Loaded when an address names more than a view.
 * @module
 */
import type { Actions } from "./actions.js";
import { isServed, type Shelf } from "../engine/shelves.js";
import type { Route } from "./route.js";
import { unpacked } from "./call/shared-result.js";

/** Shows a route. What is gone is said in one sentence; the rest is shown. */
export async function openRoute(route: Route, actions: Actions): Promise<void> {
  const { store } = actions;
  const { view, call, tool, server, uri, artifact } = route;
  const { servers, calls, preview } = store.state;
  const isSame = preview?.artifact.id === artifact?.id && preview?.shelf === artifact?.shelf;
  const ofTool = tool?.slice(0, Math.max(0, tool.indexOf(".")));
  const named = server ?? ofTool;
  const offered = servers.find(({ name }) => name === named);
  // Whether the server still lists the resource is found out where its list is shown.
  const resource = offered === undefined || uri === undefined ? undefined : { server: offered.name, uri };
  // All at once, or the address would follow what is shown in between.
  store.set({
    view,
    answer: undefined,
    ...(!isSame && { preview: undefined }),
    ...(calls.some(({ id }) => id === call) && { call }),
    ...(offered !== undefined && { server: offered.name }),
    ...(view === "resources" && { resource }),
  });
  if (named !== undefined && offered === undefined) gone(actions, `${named} is not connected here: connect it first.`);
  else if (offered !== undefined) {
    const isOffered = offered.status !== "ready" || offered.tools.some(({ name }) => name === tool);
    if (tool !== undefined && isOffered) store.set({ tool });
    else if (tool !== undefined) gone(actions, `${offered.name} has no tool named ${tool}.`);
  }
  if (call !== undefined && store.state.call !== call && !(await actions.recall(call))) {
    gone(actions, "The call in this address is not in this browser any more: run its tool again.");
  }
  if (route.result !== undefined) await openResult(route.result, route.title, actions);
  if (artifact === undefined || isSame) return;
  const { shelf, id } = artifact;
  if (isServed(shelf)) void openServed(shelf, id, actions);
  else await openArtifact(shelf, id, actions);
}

/** What the page's server holds is known once there is a session, for which the page does not wait. */
async function openServed(shelf: Shelf, id: string, actions: Actions): Promise<void> {
  const { store } = actions;
  const { view } = store.state;
  await actions.whenReady();
  // Whoever has gone elsewhere meanwhile stays there.
  if (store.state.view === view && store.state.preview === undefined) await openArtifact(shelf, id, actions);
}

async function openArtifact(shelf: Shelf, id: string, actions: Actions): Promise<void> {
  const found = await actions.find(shelf, id).catch(() => undefined);
  if (found !== undefined) actions.preview(found, shelf);
  else gone(actions, "The artifact in this address has expired or was deleted: call its tool again.");
}

async function openResult(data: string, title = "shared", actions: Actions): Promise<void> {
  try {
    const json = await unpacked(data);
    await actions.take(new File([json], `${title}.json`, { type: "application/json" }));
  } catch (error) {
    gone(
      actions,
      error instanceof RangeError ? error.message : "The result in this address is damaged: copy it again.",
    );
  }
}

function gone(actions: Actions, text: string): void {
  actions.store.set({ answer: { text, isBad: true } });
}
