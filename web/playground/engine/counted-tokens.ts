/**
 * Asks a worker of its own for tokens, so that calls do not wait for it.
 * @module
 */
import { transfer, wrap } from "comlink";
import type { CountedTokens, Outcome } from "./messages.js";
import type { Tokenizer } from "./tokenizer.js";

const UNREACHABLE = "The tokenizer could not be loaded: try again when you are online.";

/** The tokens of both sides of a result. E_TOO_LARGE for one that is too long, E_UNKNOWN if the tokenizer cannot be loaded. */
export async function countedTokens(sent: ReadableStream<Uint8Array>, seen: string): Promise<Outcome<CountedTokens>> {
  const worker = new Worker(new URL("./tokenizer.ts", import.meta.url), { type: "module", name: "tokenizer" });
  const failed = new Promise<Outcome<never>>((resolve) => {
    const problem = { code: "E_UNKNOWN", message: UNREACHABLE };
    worker.addEventListener("error", () => resolve({ ok: false, problem }));
  });
  try {
    return await Promise.race([wrap<Tokenizer>(worker).count(transfer(sent, [sent]), seen), failed]);
  } finally {
    worker.terminate();
  }
}
