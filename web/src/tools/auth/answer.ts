/**
 * What a provider answers, bounded and in the form that the specification wants.
 * @module
 */
import { joined } from "../../transports/bytes.js";
import { chunksIn } from "../../core/value.js";

/** Most bytes of one answer. */
const MAX_ANSWER = 256 * 1024;

/** What of a token answer is read. Not the ID token: who the user is, the host knows. */
const TOKEN_MEMBERS = ["access_token", "token_type", "expires_in", "refresh_token", "scope", "error"] as const;

/** As the global one. */
export type Fetch = typeof globalThis.fetch;

/** A `fetch` whose answers have arrived whole and are short. Throws a TypeError for longer ones, as for broken ones. */
export function shortFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const bytes = await shortBody(response);
    // In browsers a redirect that is not followed has no status; nothing that we ask for is redirected.
    if (response.status < 200 || [204, 205, 304].includes(response.status)) return new Response(null, { status: 502 });
    return new Response(bytes, { status: response.status, headers: response.headers });
  };
}

/** A `fetch` for the token endpoint: keeps only what is read, and errors have the status of errors. */
export function tokenFetch(fetch: Fetch): Fetch {
  const short = shortFetch(fetch);
  return async (input, init) => {
    const response = await short(input, init);
    const body: unknown = await response.json().catch(() => null);
    if (typeof body !== "object" || body === null) return new Response("", response);
    const members = body as Record<string, unknown>;
    // Null says the same as nothing, and some providers say it.
    const read = Object.fromEntries(
      TOKEN_MEMBERS.map((name) => [name, members[name]]).filter(
        ([, value]) => typeof value === "string" || typeof value === "number",
      ),
    );
    // Some providers answer 200 and say in the body that it was an error.
    const status = typeof read["error"] === "string" ? failed(response.status) : response.status;
    return new Response(JSON.stringify(read), { status, headers: response.headers });
  };
}

function failed(status: number): number {
  return status < 300 ? 400 : status;
}

async function shortBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksIn(response)) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER) throw new TypeError("the answer is too long");
    chunks.push(chunk);
  }
  return joined(chunks) as Uint8Array<ArrayBuffer>;
}
