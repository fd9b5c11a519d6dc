/** A browser's part in front of a real server: its requests, with the cookie that it was given. */
import { vi } from "vitest";
import type { EngineEvent } from "../../../../web/playground/engine/messages.js";
import { Pauses } from "../../../../web/playground/engine/pauses.js";
import { ServeSession } from "../../../../web/playground/engine/serve/serve-session.js";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import type { SluiceServerOptions } from "../../../../web/src/serve.js";

const BASE = "http://127.0.0.1:8080/";

/** Somebody at a page, and the server that the page comes from. */
export interface ServeVisitor extends AsyncDisposable {
  readonly session: ServeSession;
  readonly store: MemoryArtifactStore;
  readonly events: readonly EngineEvent[];
  readonly pauses: Pauses;
  /** Events of one kind. */
  told<Kind extends EngineEvent["kind"]>(kind: Kind): readonly Extract<EngineEvent, { readonly kind: Kind }>[];
  /** A request beside the session's own, with the same cookie. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Methods and paths that were asked for. */
  readonly asked: readonly string[];
  /** Nobody answers from now on. */
  leave(): void;
}

/** `cookie`: one that the browser has already. */
export async function visitor(
  options: Partial<SluiceServerOptions> = {},
  { cookie = "" }: { readonly cookie?: string } = {},
): Promise<ServeVisitor> {
  const store = new MemoryArtifactStore();
  const server = new SluiceServer({ store, ...options });
  const asked: string[] = [];
  let [kept, isAway] = [cookie, false];
  const sent = async (address: string, init: RequestInit = {}): Promise<Response> => {
    if (isAway) throw new TypeError("Failed to fetch");
    const request = new Request(address, init);
    request.headers.set("cookie", kept);
    asked.push(`${request.method} ${address.slice(BASE.length)}`);
    const response = await server.fetch(request);
    const [given] = response.headers.getSetCookie();
    kept = given?.split(";", 1)[0] ?? kept;
    return response;
  };
  vi.stubGlobal("fetch", sent);
  const events: EngineEvent[] = [];
  const pauses = new Pauses(
    (pause) => events.push({ kind: "paused", pause }),
    (pause) => events.push({ kind: "resumed", pause }),
  );
  const session = new ServeSession(BASE, pauses, (event) => events.push(event));
  return {
    session,
    store,
    events,
    pauses,
    asked,
    told: (kind) => events.filter((event): event is Extract<EngineEvent, { kind: typeof kind }> => event.kind === kind),
    fetch: (path, init) => sent(new URL(path, BASE).href, init),
    leave: () => (isAway = true),
    [Symbol.asyncDispose]: async () => {
      session.watch(false);
      await server[Symbol.asyncDispose]();
      vi.unstubAllGlobals();
    },
  };
}
