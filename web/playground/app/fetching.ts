/**
 * Reading what a result only names.
 * @module
 */
import type { ShownArtifact } from "mcp-sluice/ui";
import type { Actions } from "./actions.js";
import type { Fetched, ShownCall, Store } from "./state.js";

/** Reads a resource that a result names, and shows what came. */
export async function fetchLink(
  { id, server, fetched: known }: ShownCall,
  link: ShownArtifact,
  { store, actions }: { readonly store: Store; readonly actions: Actions },
): Promise<void> {
  const before = known?.[link.id];
  if (before !== undefined && before.problem === undefined) return;
  const put = (came: Fetched): void => {
    const fetched = store.state.calls.find((call) => call.id === id)?.fetched;
    store.setCall(id, { fetched: { ...fetched, [link.id]: came } });
  };
  put({});
  const outcome = await actions.resources.read(server, String(link.source?.["uri"]));
  if (!outcome.ok) return put({ problem: outcome.problem });
  const { artifacts } = outcome.value;
  const [first] = artifacts;
  if (first === undefined) {
    return put({ problem: { code: "E_NOT_FOUND", message: "There is nothing in it, or nothing could be stored." } });
  }
  put({ artifacts });
  actions.look(first);
}
