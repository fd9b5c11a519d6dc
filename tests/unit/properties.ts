/**
 * What property tests draw: the same values in every run, so that what was green stays green until something changes.
 * `SEED=random` draws others; what they find becomes an example in a test, and is mended.
 * @module
 */
import * as fc from "fast-check";

const given = typeof process === "undefined" ? undefined : process.env["SEED"];
const seed = given ?? "20261121";
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });
