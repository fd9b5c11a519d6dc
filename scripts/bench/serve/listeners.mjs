/**
 * Many who listen.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { peakDuring } from "./client.mjs";

const A_SESSION = 16;
const EVENTS = 20;

/** So many listeners to events: memory before they come, while they listen, and when they have gone; and how soon all hear. */
export async function listeners(served, count) {
  const sessions = await Promise.all(Array.from({ length: count / A_SESSION }, () => served.session()));
  const before = await served.memory();
  const open = (
    await Promise.all(
      sessions.map(async (session) =>
        Promise.all(Array.from({ length: A_SESSION }, () => listening(served, session.token))),
      ),
    )
  ).flat();
  const during = await served.memory();
  const times = [];
  const peak = await peakDuring(served, async () => {
    for (let round = 1; round <= EVENTS; round += 1) {
      const begun = performance.now();
      for (const { token } of sessions)
        await served.json("/artifacts", { method: "POST", body: `note ${round}`, token });
      await heard(open, round);
      times.push(performance.now() - begun);
    }
  });
  for (const { response } of open) response.destroy();
  await sleep(500);
  for (const { token } of sessions) await served.json("/sessions/current", { method: "DELETE", token });
  const after = await served.memory();
  const each = ((during - before) * 1024) / count;
  const rate = (EVENTS * count) / (times.reduce((sum, time) => sum + time, 0) / 1000);
  return {
    seen: `${before.toFixed(0)} → ${during.toFixed(0)} (peak ${peak.toFixed(0)}) → ${after.toFixed(0)} MiB, ${each.toFixed(0)} KiB each, ${rate.toFixed(0)} events/s`,
    bar: "< 100 KiB each",
    met: each < 100,
    before,
    during,
    peak,
    after,
    times,
  };
}

async function listening(served, token) {
  const response = await served.open("/events", { token });
  const listener = { response, events: 0 };
  // An event of each artifact stored is all that comes.
  response
    .setEncoding("utf8")
    .on("data", (text) => (listener.events += text.split("event: artifact_stored").length - 1));
  response.on("error", () => undefined);
  return listener;
}

async function heard(open, events) {
  const until = performance.now() + 60_000;
  while (open.some((listener) => listener.events < events)) {
    if (performance.now() > until) throw new Error("some heard nothing for a minute");
    await sleep(2);
  }
}
