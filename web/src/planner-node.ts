/**
 * The planner in Node: everything of `mcp-sluice/planner`, and runs that wait in a folder.
 *
 * @example
 * ```ts
 * const stateStore = new FileStateStore("./state");
 * const planner = new ReactPlanner({ catalog, llm, stateStore, artifactStore: new FileArtifactStore("./artifacts") });
 * ```
 * @module mcp-sluice/planner/node
 */
export * from "./planner.js";
export { FileStateStore } from "./planner/file-state-store.js";
