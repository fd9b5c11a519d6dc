/**
 * Display hints of tools: files to open in the drawer and notifications. Loaded for the first hint.
 * @module
 */
import type { ShownArtifact } from "mcp-sluice/ui";
import { plainLines } from "../../ui/plain-text.js";
import type { ShownDisplay } from "../engine/messages.js";
import type { Actions } from "./actions.js";
import { findShelf, type Preview, type Placed, type State } from "./state.js";

/** Files open at a time; opening one more closes the oldest. */
const MAX_OPEN = 4;

/** Applies a display hint. `call` is the id of its call, and undefined in the chat. */
export function applyDisplay(display: ShownDisplay, actions: Actions, call?: string): void {
  const { store } = actions;
  const { state } = store;
  const { server, opened, mode, notification } = display;
  const isSeen = call === undefined ? state.view === "chat" : isShown(state, call);
  // A user who is elsewhere is not interrupted.
  if (opened !== undefined && isSeen) store.set({ preview: openInPreview(state.preview, opened, mode) });
  if (notification !== undefined) actions.tell(`${server} says: ${plainLines(notification)}`, call);
}

function isShown({ call, view, calls }: State, id: string): boolean {
  const isAside = calls.find((each) => each.id === id)?.inBackground === true;
  return call === id && !isAside && (view === "try" || view === "tools");
}

/** The preview after a tool opens a file: it replaces the previous one, is added to it, or is beside the result. */
export function openInPreview(
  preview: Preview | undefined,
  artifact: ShownArtifact,
  mode: ShownDisplay["mode"],
): Preview {
  const opened = { artifact, shelf: findShelf(artifact), isWide: false, isByTool: true };
  if (mode === "split") return { ...opened, isHalf: true };
  if (mode !== "append" || preview === undefined) return opened;
  const before = openIn(preview).filter((each) => each.artifact.id !== artifact.id);
  const { isWide, isHalf = false } = preview;
  return { ...opened, isWide, isHalf, before: before.slice(1 - MAX_OPEN) };
}

/** All open files, the oldest first. */
export function openIn({ artifact, shelf, before = [] }: Preview): readonly Placed[] {
  return [...before, { artifact, shelf }];
}
