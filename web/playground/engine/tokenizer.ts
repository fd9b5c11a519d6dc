/**
 * Counts tokens as a model's tokenizer does. It weighs a megabyte, so it is loaded when somebody asks.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { countTokens, setMergeCacheSize } from "gpt-tokenizer/encoding/o200k_base";

/** How it counts, in a word that its users know. */
export const TOKENIZER = "o200k_base, the tokenizer of GPT-5";

/** Characters of a result that are counted. */
const MAX_COUNTED = 16_000_000;

/** The tokens of a text that arrives in pieces. Throws E_TOO_LARGE beyond 16 million characters. */
export async function tokensOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<number> {
  // Runs of base64 hardly repeat, and the cache of merges would keep them all.
  setMergeCacheSize(10_000);
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of pieces) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > MAX_COUNTED) {
      throw new SluiceError("E_TOO_LARGE", "The result is too long to be counted: the estimate stays.");
    }
  }
  return countTokens(text + decoder.decode());
}
