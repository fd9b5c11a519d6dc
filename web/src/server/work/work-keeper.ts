/**
 * Holds the work of this process, and takes up work whose process died.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../http/time-limit.js";
import { keyOfWork, WORK_KINDS, WORK_LEASE_MS, type Work, type WorkKind, type WorkRegister } from "./work-register.js";

/** Work that this process holds until one of these is called. None of them throws. */
export interface HeldWork {
  /** It is done: no process takes it up. */
  end(): Promise<void>;
  /** Others may take it up at once. */
  free(): Promise<void>;
  /** Others may take it up when the lease is over. */
  leave(): void;
}

/** How work of a kind is taken up. */
export interface Takeover {
  /** Most that this process does at once of what it took up. The rest stays due, for others or for later. */
  readonly most: number;
  /**
   * Goes on with the work, or ends, frees or leaves what is held. Settles when this process is done with it. Must not
   * throw.
   */
  readonly take: (work: Work, held: HeldWork) => Promise<void>;
}

interface KeeperDeps {
  readonly register: WorkRegister;
  /** Aborted when the server begins to close: it takes up nothing more. */
  readonly draining: AbortSignal;
  /** Receives failures. Must not throw. */
  readonly report: (error: unknown) => void;
}

/** Milliseconds between two looks at what is due, and after the register failed. */
const LOOK_EVERY = 1000;
const LONGEST_PAUSE = 15_000;

/** Milliseconds between two renewals: one may fail. */
const RENEW_EVERY = WORK_LEASE_MS / 3;

/** Most work that is taken up with one look. */
const AT_ONCE = 8;

/** Milliseconds that closing waits for a look. */
const LOOK_END = 5000;

/** One for each process. */
export class WorkKeeper implements AsyncDisposable {
  readonly #deps: KeeperDeps;
  readonly #holder: string = crypto.randomUUID();
  readonly #held = new Map<string, readonly [Work, HeldWork]>();
  readonly #takeovers = new Map<WorkKind, Takeover>();
  readonly #taken: Record<WorkKind, number> = { run: 0, call: 0 };
  readonly #over = new AbortController();
  readonly #done: Promise<void>;
  #renewedAt = performance.now();

  constructor(deps: KeeperDeps) {
    this.#deps = deps;
    this.#done = this.#loop();
  }

  /** Says how work of a kind is taken up. Without it, others do that. */
  takesUp(kind: WorkKind, takeover: Takeover): void {
    this.#takeovers.set(kind, takeover);
  }

  /** Holds work, from before anything of it is stored. Throws SluiceError E_STORE_…. */
  async hold(work: Work): Promise<HeldWork> {
    const held = this.#add(work);
    try {
      await this.#deps.register.hold(this.#holder, [work]);
    } catch (error) {
      held.leave();
      throw error;
    }
    return held;
  }

  /** Takes up nothing more. What is held stays so until it is let go, or the lease is over. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await within(this.#done, LOOK_END);
  }

  #add(work: Work): HeldWork {
    const key = `${work.kind} ${keyOfWork(work)}`;
    const { register, report } = this.#deps;
    const leave = (): boolean => this.#held.get(key)?.[1] === held && this.#held.delete(key);
    const awaitDone = async (done: Promise<void> | false): Promise<void> => {
      await Promise.resolve(done).catch(report);
    };
    const held: HeldWork = {
      end: () => awaitDone(leave() && register.end(this.#holder, [work])),
      free: () => awaitDone(leave() && register.free(this.#holder, [work])),
      leave: () => void leave(),
    };
    this.#held.set(key, [work, held]);
    return held;
  }

  async #loop(): Promise<void> {
    const { signal } = this.#over;
    let pause = LOOK_EVERY;
    for (;;) {
      // Spreads processes that started together.
      const next = pause * (0.75 + 0.5 * Math.random());
      if (!(await sleep(next, true, { signal, ref: false }).catch(() => false))) return;
      try {
        await this.#renew();
        for (const kind of WORK_KINDS) await this.#look(kind);
        pause = LOOK_EVERY;
      } catch (error) {
        // Once, however long the register is away.
        if (pause === LOOK_EVERY) this.#deps.report(error);
        pause = Math.min(2 * pause, LONGEST_PAUSE);
      }
    }
  }

  async #renew(): Promise<void> {
    const now = performance.now();
    if (this.#held.size === 0 || now - this.#renewedAt < RENEW_EVERY) return;
    await this.#deps.register.hold(
      this.#holder,
      [...this.#held.values()].map(([work]) => work),
    );
    this.#renewedAt = now;
  }

  async #look(kind: WorkKind): Promise<void> {
    const takeover = this.#takeovers.get(kind);
    const room = Math.min(AT_ONCE, (takeover?.most ?? 0) - this.#taken[kind]);
    if (takeover === undefined || room <= 0 || this.#deps.draining.aborted) return;
    for (const work of await this.#deps.register.due(this.#holder, kind, room)) {
      // Where the register was away for long, it may be this process's own.
      if (this.#held.has(`${kind} ${keyOfWork(work)}`)) continue;
      const held = this.#add(work);
      if (this.#over.signal.aborted) await held.free();
      else void this.#takeUp(takeover, work, held);
    }
  }

  async #takeUp({ take }: Takeover, work: Work, held: HeldWork): Promise<void> {
    this.#taken[work.kind] += 1;
    try {
      await take(work, held);
    } finally {
      this.#taken[work.kind] -= 1;
    }
  }
}
