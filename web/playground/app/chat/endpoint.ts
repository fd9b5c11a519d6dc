/**
 * What an endpoint has to have.
 * @module
 */
import type { Endpoint } from "../../engine/chat/contract.js";

/** What is wrong with it, as a sentence that says what to do; empty where nothing is. */
export function problemOf({ url, model }: Pick<Endpoint, "url" | "model">): string {
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    return "The address must be an http or https URL, such as http://localhost:11434/v1.";
  }
  return model === "" ? "Name the model as its server calls it, such as llama3.2." : "";
}
