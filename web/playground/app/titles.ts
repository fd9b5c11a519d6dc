/**
 * What views are called.
 * @module
 */
import type { Shelf } from "../engine/shelves.js";
import type { View } from "./state.js";

/** One name for each, wherever it is shown. */
export const TITLES: Readonly<Record<View, string>> = {
  try: "Try",
  tools: "Tools",
  resources: "Resources",
  files: "My Files",
  chat: "Chat",
  guardrails: "Guardrails",
  log: "Log",
};

/** Where an artifact lies, for people. */
export const PLACES: Readonly<Record<Shelf, string>> = {
  session: "Stored in this session",
  files: "In My Files",
  served: "Stored by this page's server",
  "served-files": "In your files at this page's server",
};
