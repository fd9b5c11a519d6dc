/**
 * Bodies that are held in memory until they are answered, counted over a process: what is read of one may take many times its
 * bytes.
 * @module
 */

/** Bytes of a body that is not counted: there is always room for small ones. */
const SMALL = 64 * 1024;

const MIB = 1024 * 1024;

/** Bytes of bodies under way of one user, in however many sessions, and of all. */
const MOST_OF_USER = 8 * MIB;
const MOST = 32 * MIB;

/** Bytes that are held of a body at most: of a message for a source, and of anything else. */
const MESSAGE = 8 * MIB;
const ANYTHING_ELSE = MIB;

/** Addresses, below the base, whose bodies go through piece by piece. */
const STREAMED = /^(?:artifacts|files)\/?$/;

/** Counts them. */
export class LargeBodies {
  readonly #ofUser = new Map<string, number>();
  #all = 0;

  /** Notes a body until the function is called, which may be called twice; null where there is no room for it. */
  enter(user: string, bytes: number): (() => void) | null {
    if (bytes <= SMALL) return () => undefined;
    const own = this.#ofUser.get(user) ?? 0;
    if (own + bytes > MOST_OF_USER || this.#all + bytes > MOST) return null;
    this.#add(user, bytes);
    let isOver = false;
    return () => {
      if (!isOver) this.#add(user, -bytes);
      isOver = true;
    };
  }

  #add(user: string, bytes: number): void {
    this.#all += bytes;
    const own = (this.#ofUser.get(user) ?? 0) + bytes;
    if (own === 0) this.#ofUser.delete(user);
    else this.#ofUser.set(user, own);
  }
}

/** Bytes that will be held of a request's body; `path` is what stands below the base. */
export function heldOf(request: Request, path: string): number {
  const { method, headers } = request;
  // Of others none is read; a body is only looked for where there may be one.
  const isStreamed = method === "POST" && STREAMED.test(path);
  if ((method !== "POST" && method !== "PATCH") || isStreamed || request.body === null) return 0;
  const most = path.startsWith("mcp/") ? MESSAGE : ANYTHING_ELSE;
  const said = headers.get("content-length");
  return said === null ? most : Math.min(Number(said), most);
}
