/** Two servers over one Redis and one store, where the clock of one machine is an hour off: nobody loses anything by it. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { redisState } from "../../../../web/src/server/redis/state.js";
import type { ServeState } from "../../../../web/src/server/state.js";
import { another } from "../../redis/served.js";

const SECRET = "a secret of more than thirty-two characters";
const HOUR = 3_600_000;

/** A clock that has been asked once, and so knows the server's time. */
async function stateAt(url: string): Promise<ServeState> {
  const state = redisState({ url, secret: SECRET });
  onTestFinished(() => state[Symbol.asyncDispose]());
  state.clock?.();
  await state.sessions.find("none");
  return state;
}

test.each([HOUR, -HOUR])(
  "a clock that jumps by %d ms is not followed, and that of all processes goes on",
  async (jump) => {
    const redis = await another();
    const { clock = Date.now } = await stateAt(redis.url);
    const before = clock();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + jump });
    onTestFinished(() => void vi.useRealTimers());
    expect(Math.abs(Date.now() - before - jump)).toBeLessThan(60_000);
    await sleep(20);
    expect(clock() - before).toBeGreaterThan(0);
    expect(clock() - before).toBeLessThan(60_000);
  },
);

test.each([HOUR, -HOUR])(
  "sessions and artifacts of a process that is %d ms off hold in the other, and its in this one",
  async (off) => {
    const redis = await another();
    const [one, other] = [await stateAt(redis.url), await stateAt(redis.url)];
    const store = new MemoryArtifactStore({ retention: null, ...(one.clock && { clock: one.clock }) });
    const [here, there] = [one, other].map((state) => {
      const server = new SluiceServer({ store, state, secret: SECRET });
      onTestFinished(() => server[Symbol.asyncDispose]());
      return (path: string, init?: RequestInit) => server.fetch(new Request(`http://127.0.0.1:4751/${path}`, init));
    }) as [Ask, Ask];
    const wrong = async <T>(work: () => Promise<T>): Promise<T> => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + off });
      return work().finally(() => vi.useRealTimers());
    };
    const young = await begun(here);
    const theirs = await wrong(() => begun(there));
    expect(await wrong(() => statusOf(there, young))).toBe(200);
    expect(await statusOf(here, theirs)).toBe(200);
    expect(await statusOf(here, young)).toBe(200);
  },
);

type Ask = (path: string, init?: RequestInit) => Promise<Response>;

interface Begun {
  readonly authorization: string;
  readonly id: string;
}

/** A session with one artifact. */
async function begun(ask: Ask): Promise<Begun> {
  const json = { "content-type": "application/json" };
  const session = await ask("sessions", { method: "POST", headers: json, body: '{"token":true}' });
  const { token } = (await session.json()) as { token: string };
  const authorization = `Bearer ${token}`;
  const stored = await ask("artifacts", { method: "POST", headers: { authorization }, body: token });
  const { artifact } = (await stored.json()) as { artifact: { id: string } };
  return { authorization, id: artifact.id };
}

async function statusOf(ask: Ask, { authorization, id }: Begun): Promise<number> {
  return (await ask(`artifacts/${id}`, { headers: { authorization } })).status;
}
