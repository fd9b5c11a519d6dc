/**
 * The variables of a program in Node: those of its environment.
 * @module
 */
import { childEnvironment } from "../mcp/stdio/server-process.js";
import type { Variables } from "./variables.js";

/** The environment, as it is when it is asked. What a child process may not have has no value here either. */
export const environmentVariables: Variables = (name) => childEnvironment()[name];
