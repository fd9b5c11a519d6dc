/**
 * What views are called.
 * @module
 */
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
