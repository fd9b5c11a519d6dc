/** The secret of several processes is changed in three steps, while users are signed in: nobody notices. */
import { expect, test } from "vitest";
import { Room } from "../../cli/command.js";
import { begin, serve, type Served, type Session } from "../../cli/serve/serving.js";
import { useRedis } from "../redis/served.js";

const redis = useRedis();

const [OLD, NEW] = ["the secret so far, of thirty-two characters", "the secret that follows, as long as that"];

test("sessions go on in every process at every step", async () => {
  await using room = await Room.open();
  const open = (secret: string, others: readonly string[]): Promise<Served> =>
    serve(["--state", redis.url, "--store", room.store], {
      SLUICE_SERVE_SECRET: secret,
      SLUICE_SERVE_OLD_SECRETS: others.join("\n"),
    });
  const sessions: Session[] = [];
  /** All sessions in all processes, and a new one in each. */
  const lookedAt = async (servers: readonly Served[]): Promise<void> => {
    for (const { url } of servers) sessions.push(await begin(url));
    for (const { url } of servers) {
      for (const { headers } of sessions) {
        expect((await fetch(`${url}sessions/current`, { headers })).status).toBe(200);
      }
    }
  };
  // Two processes at a time, of which the first is that of the step before.
  const steps = [
    [OLD, []],
    [OLD, [NEW]],
    [NEW, [OLD]],
  ] as const;
  let before = await open(OLD, []);
  for (const [secret, others] of steps) {
    const next = await open(secret, others);
    await lookedAt([before, next]);
    await before[Symbol.asyncDispose]();
    before = next;
  }
  // The last step, once all sessions that the old secret signed have ended.
  await using last = await open(NEW, []);
  const [{ headers } = { headers: {} }] = sessions;
  const answer = await fetch(`${last.url}sessions/current`, { headers });
  expect(answer.status).toBe(401);
  const young = await begin(before.url);
  expect((await fetch(`${last.url}sessions/current`, { headers: young.headers })).status).toBe(200);
  for (const said of [before.said(), last.said()]) expect(said).not.toMatch(/the secret/);
  await before[Symbol.asyncDispose]();
});
