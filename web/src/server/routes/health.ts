/**
 * `GET /health` and `GET /ready`, for load balancers, and which of the stores can be reached.
 * @module
 */
import { Hono, type MiddlewareHandler } from "hono";
import { jsonAnswer } from "../http/answers.js";
import { awayRefused, methodRefused } from "../http/refusals.js";
import type { ServeEnv, ServeDeps } from "../deps.js";
import { SluiceError } from "../../errors/error.js";
import { within } from "../http/time-limit.js";

/** Whether the process lives: 200 while it serves, 503 while it closes. Asks no store. */
export function healthRoutes({ over }: ServeDeps): Hono<ServeEnv> {
  return new Hono<ServeEnv>()
    .get("/", () => (over.aborted ? jsonAnswer({ status: "closing" }, 503) : jsonAnswer({ status: "ok" })))
    .all("/", () => methodRefused("GET, HEAD"));
}

/** Whether requests can be answered: 503 while it closes, and while a store or the state cannot be reached, with which it is. */
export function readyRoutes({ over, readiness }: ServeDeps): Hono<ServeEnv> {
  return new Hono<ServeEnv>()
    .get("/", async () => {
      if (over.aborted) return jsonAnswer({ status: "closing" }, 503);
      const parts = [...(await readiness.look())];
      const isReady = parts.every(([, isAway]) => !isAway);
      const said = Object.fromEntries(parts.map(([part, isAway]) => [part, isAway ? "away" : "ok"]));
      return jsonAnswer({ status: isReady ? "ok" : "away", ...said }, isReady ? 200 : 503);
    })
    .all("/", () => methodRefused("GET, HEAD"));
}

/** Refuses at once what needs a part that is away. */
export function whileReady({ readiness }: ServeDeps, ...parts: readonly Part[]): MiddlewareHandler<ServeEnv> {
  return async (_, next) => {
    const [away] = readiness.away(parts);
    if (away !== undefined) return awayRefused(partAway(away));
    await next();
    return undefined;
  };
}

/** What a request may need beside the server itself. */
type Part = "state" | "store" | "files";

/** Looks whether a part answers. Throws what it fails with. */
type Look = () => Promise<unknown>;

/** How long a part may take to answer, in milliseconds; one that takes longer is away until it does. */
const LATE = 2000;

/** How old a look may be for an answer to `GET /ready`, in milliseconds; and for a request, which does not wait for the next. */
const FRESH = { ready: 500, request: 2000 };

/** How long a look is waited for that may never end, in milliseconds, before another one begins. */
const LOST = 30_000;

/**
 * Knows which parts are away. They are looked at when somebody asks, and no more often than needed: an idle server asks nobody.
 * While a part is away requests that need it are refused at once; each begins another look, so that they are answered as soon
 * as it is back.
 */
export class Readiness {
  readonly #parts: ReadonlyMap<Part, Watched>;

  /** Functions that look at each part; a part that is not there is always ready. */
  constructor(looks: Readonly<Partial<Record<Part, Look>>>) {
    const entries = Object.entries(looks) as [Part, Look][];
    this.#parts = new Map(entries.map(([part, look]) => [part, new Watched(look)]));
  }

  /** The parts that are away, as far as is known from the last two seconds. Waits for nobody. */
  away(parts: readonly Part[]): readonly Part[] {
    return parts.filter((part) => this.#parts.get(part)?.isAway(FRESH.request) === true);
  }

  /** Every part, looked at just now: `true` where it is away. Takes two seconds at the most. */
  async look(): Promise<ReadonlyMap<Part, boolean>> {
    const looks = [...this.#parts].map(async ([part, watched]) => [part, await watched.looked(FRESH.ready)] as const);
    return new Map(await Promise.all(looks));
  }

  /**
   * What comes of work that waits for a part and has changed nothing yet. Throws SluiceError E_STORE_READ as soon as the part is
   * found to be away, which is looked for when the work is late; the work is left alone then.
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
      const timer = setInterval(() => void look(), LATE);
      void work.then(resolve, reject).finally(() => clearInterval(timer));
    });
  }
}

/** The sentence for whoever asks. */
function partAway(part: Part): SluiceError {
  const what = { state: "The server's state", store: "The store of artifacts", files: "The store of files" }[part];
  return new SluiceError("E_STORE_READ", `${what} cannot be reached: try again in a moment.`);
}

/** One part, and the look at it that is under way. */
class Watched {
  readonly #look: Look;
  #at = Number.NEGATIVE_INFINITY;
  #isAway = false;
  #looking: Promise<boolean> | undefined;
  /** Set while a look has no answer although it is late: there is one at a time. */
  #isLost = false;

  constructor(look: Look) {
    this.#look = look;
  }

  /** What is known; begins to look where that is older than so many milliseconds, and does not wait for it. */
  isAway(age: number): boolean {
    void this.looked(age);
    return this.#isAway;
  }

  /** What is found where what is known is older than so many milliseconds. */
  async looked(age: number): Promise<boolean> {
    if (this.#isLost || performance.now() - this.#at < age) return this.#isAway;
    this.#looking ??= this.#begin().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #begin(): Promise<boolean> {
    const work = this.#look().then(
      () => this.#found(false),
      () => this.#found(true),
    );
    if ((await within(work, LATE)) !== "late") return this.#isAway;
    this.#isLost = true;
    void within(work, LOST - LATE).then(() => (this.#isLost = false));
    return this.#found(true);
  }

  #found(isAway: boolean): boolean {
    this.#at = performance.now();
    this.#isAway = isAway;
    return isAway;
  }
}
