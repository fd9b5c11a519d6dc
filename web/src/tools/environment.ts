/**
 * The variables of a program in Node: those of its environment.
 * @module
 */
import { env } from "node:process";
import type { Variables } from "./variables.js";

/** The environment, as it is when it is asked. */
export const environmentVariables: Variables = (name) => env[name];
