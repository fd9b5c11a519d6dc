/**
 * What the page asks of itself and of its workers.
 * @module
 */
import { createSluice, MemoryArtifactStore } from "mcp-sluice";
import { roundTrip } from "./round-trip.js";

const violations = [];
addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
  violations.push(`${effectiveDirective} ${blockedURI}`),
);

const answers = {
  "round trip": async () => ({ ...(await roundTrip(createSluice, new MemoryArtifactStore())), violations }),
  // oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- to see it refused
  "code from a string": async () => new Function("return 'made'")(),
};

/** Answers with what came of it, or with the error as plain data. */
export async function answer(question) {
  return attempt(answers[question]);
}

/** What `body` gives, or its error as plain data. */
export async function attempt(body) {
  try {
    return await body();
  } catch ({ name, code, message, cause }) {
    return { name, code, message, cause: String(cause) };
  }
}
