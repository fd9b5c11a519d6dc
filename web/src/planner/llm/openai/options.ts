/**
 * What a client of OpenAI's chat completions is given, checked before it is used.
 * @module
 */
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionTests } from "../../../errors/options.js";
import { ASKING, wrongOption } from "../patience.js";
import type { OpenAiClientOptions } from "./client.js";

/** What a bearer token may be in a header; nothing is trimmed, so that it can be found where a server quotes it. */
const KEY = /^[\x21-\x7e\xa1-\xff]*$/;

/** What is not tested here is tested where it is used. */
const OPTIONS: OptionTests<OpenAiClientOptions> = {
  ...ASKING,
  model: ["the name of a model", (value) => typeof value === "string" && value !== ""],
  baseUrl: ANYTHING,
  apiKey: [
    "a text of Latin-1 characters without spaces and line breaks",
    (value) => typeof value === "string" && KEY.test(value),
  ],
  headers: ["an object of header names, each with a text of Latin-1 characters without line breaks", isHeaders],
  body: OBJECT,
  fetch: FUNCTION,
};

/** Throws E_INVALID_ARGUMENT, with the option's name as `path`. No value stands in its sentence: it may be a secret. */
export function checkClient(options: OpenAiClientOptions): void {
  checkOptions(options, OPTIONS, "an OpenAiClient", wrongOption, ["model"]);
}

/** Where turns are asked for. Throws E_INVALID_ARGUMENT. */
export function endpointOf(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    const remedy = "such as http://localhost:11434/v1; say who asks by apiKey";
    throw wrongOption(`baseUrl must be an http(s) URL without a user, ${remedy}.`, "baseUrl");
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/chat/completions`;
  url.hash = "";
  return url;
}

/** As the platform itself takes them. `Headers` have no properties of their own: they would be lost. */
function isHeaders(value: unknown): boolean {
  if (!OBJECT[1](value) || value instanceof Headers) return false;
  const pairs = Object.entries(value as object);
  if (!pairs.every(([, text]) => typeof text === "string")) return false;
  try {
    const taken = new Headers(pairs as [string, string][]);
    return pairs.every(([name]) => taken.has(name));
  } catch {
    return false;
  }
}
