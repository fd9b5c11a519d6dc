/**
 * Shows what an address names, and says what is gone. Loaded when an address names more than a view.
 * @module
 */
import type { Actions } from "./actions.js";
import type { Route } from "./route.js";
import { unpacked } from "./call/shared-result.js";

/** Shows a route. What is gone is said in one sentence; the rest is shown. */
export async function openRoute(route: Route, actions: Actions): Promise<void> {
  const { store } = actions;
  const { view, call, tool, server, artifact } = route;
  const { servers, calls, preview } = store.state;
  const isSame = preview?.artifact.id === artifact?.id && preview?.shelf === artifact?.shelf;
  const ofTool = tool?.slice(0, Math.max(0, tool.indexOf(".")));
  store.set({
    view,
    answer: undefined,
    ...(!isSame && { preview: undefined }),
    ...(calls.some(({ id }) => id === call) && { call }),
  });
  const named = server ?? ofTool;
  const offered = servers.find(({ name }) => name === named);
  if (named !== undefined && offered === undefined) gone(actions, `${named} is not connected here: connect it first.`);
  else if (offered !== undefined) {
    store.set({ server: offered.name });
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
  const found = await actions.find(shelf, id);
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
