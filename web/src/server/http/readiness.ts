/**
 * Whether the server can do its work: which of the stores can be reached, and what is refused while one cannot.
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { awayRefused } from "./refusals.js";
import type { ServeEnv } from "./context.js";
import { SluiceError } from "../../errors/error.js";
import { within } from "./time-limit.js";

/** Whether a path is that of a probe, below the server's own: it is answered while the server starts and closes, too. */
export function isProbe(pathname: string, base: string = "/"): boolean {
  return pathname === `${base}health` || pathname === `${base}ready`;
}

/** Refuses requests at once that need a part which is away. */
export function whileReady(
  { readiness }: { readonly readiness: Readiness },
  ...parts: readonly Part[]
): MiddlewareHandler<ServeEnv> {
  return async (_, next) => {
    const [away] = readiness.away(parts);
    if (away !== undefined) return awayRefused(partAway(away));
    await next();
    return undefined;
  };
}

/** What a request may need besides the server itself. */
export type Part = "state" | "store" | "files";

/** Checks whether a part answers. Throws its failure. */
type Look = () => Promise<unknown>;

/** Milliseconds until a part that does not answer counts as away. */
const LATE = 2000;

/**
 * Most milliseconds since the last check: for `GET /ready` and a request that waits already, and for one that begins,
 * which does not wait for the next check.
 */
const FRESH = { ready: 500, request: 2000 };

/** Milliseconds until a check that does not end is given up and another one starts. */
const LOST = 30_000;

/**
 * Knows which parts are away. Checks run only on demand, so an idle server asks for nothing. While a part is away,
 * requests that need it are refused at once, and each starts another check, so that they are answered as soon as it
 * is back.
 */
export class Readiness {
  readonly #parts: ReadonlyMap<Part, Watched>;

  /** The check of each part. A part without one is always ready. */
  constructor(looks: Readonly<Partial<Record<Part, Look>>>) {
    const entries = Object.entries(looks) as [Part, Look][];
    this.#parts = new Map(entries.map(([part, look]) => [part, new Watched(look)]));
  }

  /** The parts that are away, as of the last two seconds. Does not wait. */
  away(parts: readonly Part[]): readonly Part[] {
    return parts.filter((part) => this.#parts.get(part)?.isAway(FRESH.request) === true);
  }

  /** Checks every part now: `true` means away. Takes at most two seconds. */
  async look(): Promise<ReadonlyMap<Part, boolean>> {
    const looks = [...this.#parts].map(async ([part, watched]) => [part, await watched.looked(FRESH.ready)] as const);
    return new Map(await Promise.all(looks));
  }

  /**
   * The result of work that waits for a part and has changed nothing yet. If the work takes longer than half a second,
   * the part is checked; if it is away, throws SluiceError E_STORE_READ and abandons the work.
   */
  async unlessAway<T>(part: Part, work: Promise<T>): Promise<T> {
    const watched = this.#parts.get(part);
    if (watched === undefined) return work;
    return new Promise<T>((resolve, reject) => {
      const look = async (): Promise<void> => {
        if (!(await watched.looked(FRESH.ready))) return;
        clearInterval(timer);
        reject(partAway(part));
      };
      const timer = setInterval(() => void look(), FRESH.ready);
      void work.then(resolve, reject).finally(() => clearInterval(timer));
    });
  }
}

/** The error for clients. */
function partAway(part: Part): SluiceError {
  const what = { state: "The server's state", store: "The store of artifacts", files: "The store of files" }[part];
  return new SluiceError("E_STORE_READ", `${what} cannot be reached: try again in a moment.`);
}

/** One part and its running check. */
class Watched {
  readonly #look: Look;
  #at = Number.NEGATIVE_INFINITY;
  #isAway = false;
  #looking: Promise<boolean> | undefined;
  /** Set while a late check has no answer: there is one check at a time. */
  #isLost = false;

  constructor(look: Look) {
    this.#look = look;
  }

  /** The last result. Starts a check if it is older than `age` milliseconds, without waiting. */
  isAway(age: number): boolean {
    void this.looked(age);
    return this.#isAway;
  }

  /** The last result, or that of a new check if it is older than `age` milliseconds. */
  async looked(age: number): Promise<boolean> {
    if (this.#isLost || performance.now() - this.#at < age) return this.#isAway;
    this.#looking ??= this.#begin().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #begin(): Promise<boolean> {
    const work = this.#look().then(
      () => this.#noteFound(false),
      () => this.#noteFound(true),
    );
    if ((await within(work, LATE)) !== "late") return this.#isAway;
    this.#isLost = true;
    void within(work, LOST - LATE).then(() => (this.#isLost = false));
    return this.#noteFound(true);
  }

  #noteFound(isAway: boolean): boolean {
    this.#at = performance.now();
    this.#isAway = isAway;
    return isAway;
  }
}
