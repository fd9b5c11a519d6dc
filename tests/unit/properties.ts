/**
 * What property tests draw: the same values in every run, so that what was green stays green until something changes.
 * `SEED=random` draws others; what they find becomes an example in a test, and is mended.
 * @module
 */
import * as fc from "fast-check";
import { amount } from "../support/full.js";

const given = typeof process === "undefined" ? undefined : process.env["SEED"];
const seed = given ?? "20261121";
fc.configureGlobal({ numRuns: amount(20, 100), ...(seed !== "random" && { seed: Number(seed) }) });
