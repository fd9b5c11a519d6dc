/**
 * What a tool would have the viewer do with its files, done where the person looks at that tool's result. Loaded for the first
 * of them.
 * @module
 */
import type { ShownArtifact } from "mcp-sluice/ui";
import { plainLines } from "mcp-sluice/ui/theme";
import type { ShownDisplay } from "../engine/contract.js";
import type { Actions } from "./actions.js";
import { shelfOf, type Looked, type Placed, type State } from "./state.js";

/** Files that are open at a time; with one more, the oldest is closed. */
const MAX_OPEN = 4;

/** Opens what is to be opened, and tells what is to be told; `call` is that of a result, and undefined in the chat. */
export function follow(display: ShownDisplay, actions: Actions, call?: string): void {
  const { store } = actions;
  const { state } = store;
  const { server, opened, mode, notification } = display;
  const isSeen = call === undefined ? state.view === "chat" : isShown(state, call);
  // Whoever does something else is not interrupted.
  if (opened !== undefined && isSeen) store.set({ looked: canvas(state.looked, opened, mode) });
  if (notification !== undefined) actions.tell(`${server} says: ${plainLines(notification)}`, call);
}

function isShown({ call, view, calls }: State, id: string): boolean {
  const isAside = calls.find((each) => each.id === id)?.inBackground === true;
  return call === id && !isAside && (view === "try" || view === "tools");
}

/** What is looked at once a file is opened, in the place of what was, behind it, or beside the result. */
export function canvas(looked: Looked | undefined, artifact: ShownArtifact, mode: ShownDisplay["mode"]): Looked {
  const opened = { artifact, shelf: shelfOf(artifact), isWide: false, isByTool: true };
  if (mode === "split") return { ...opened, isHalf: true };
  if (mode !== "append" || looked === undefined) return opened;
  const before = openIn(looked).filter((each) => each.artifact.id !== artifact.id);
  const { isWide, isHalf = false } = looked;
  return { ...opened, isWide, isHalf, before: before.slice(1 - MAX_OPEN) };
}

/** Everything that is open, the oldest first. */
export function openIn({ artifact, shelf, before = [] }: Looked): readonly Placed[] {
  return [...before, { artifact, shelf }];
}
