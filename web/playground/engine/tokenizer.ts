/**
 * The entry of a worker that counts tokens as a model's tokenizer does. It weighs a megabyte and takes seconds for some results, so
 * it is started on request, beside the engine.
 * @module
 */
import { expose } from "comlink";
import { SluiceError } from "mcp-sluice";
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";
import type { CountedTokens, Outcome } from "./messages.js";
import { outcome } from "./outcome.js";

/** How it counts, in a word that its users know. */
const TOKENIZER = "o200k_base, the tokenizer of GPT-5";

/** Characters of a result that are counted. */
const MAX_COUNTED = 16_000_000;

// Runs of base64 hardly repeat, and the cache of merges would keep them all.
setMergeCacheSize(10_000);

const tokenizer = {
  /** The tokens of both sides of a result. E_TOO_LARGE beyond 16 million characters. */
  count: (sent: ReadableStream<Uint8Array>, seen: string): Promise<Outcome<CountedTokens>> =>
    outcome(async () => ({ sent: countTokens(await readText(sent)), seen: countTokens(seen), by: TOKENIZER })),
};

/** What the worker offers through Comlink. */
export type Tokenizer = typeof tokenizer;

async function readText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let text = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true });
    if (text.length <= MAX_COUNTED) continue;
    await reader.cancel();
    throw new SluiceError("E_TOO_LARGE", "The result is too long to be counted: the estimate stays.");
  }
  return text + decoder.decode();
}

expose(tokenizer);
