/**
 * `npm run bench:serve`: the targets of `sluice serve` under load, on loopback. `--quick` runs a tenth of it.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inFolder, median, pdfOf, report } from "../measure.mjs";
import { peakDuring, Served } from "./client.mjs";

const MB = 1_000_000;
const DOWNLOADS_PER_SESSION = 50;

/** Rounds in which each way has its turn; the ratio of a round is between runs that stand beside each other. */
const ROUNDS = 5;

/** So many downloads of the same bytes at once: memory while they run, and time and work against Node's own streams. */
async function downloads(served, bytes, count) {
  const { paths, sessions } = await stored(served, bytes, count);
  const ways = {
    ours: paths,
    plain: paths.map(() => ["/", { port: served.plain }]),
    hono: paths.map(() => ["/", { port: served.hono }]),
  };
  // Once for each beforehand, so that none is the first.
  for (const each of Object.values(ways)) await readAll(served, each.slice(0, 20), bytes.length);
  const before = await served.memory();
  let first;
  const peak = await peakDuring(served, async () => (first = await readAll(served, paths, bytes.length)));
  const again = await peakDuring(served, () => readAll(served, paths, bytes.length));
  const after = await served.memory();
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const seen = {};
    for (const [way, asked] of Object.entries(ways)) seen[way] = await costOf(served, asked, bytes.length);
    rounds.push(seen);
  }
  for (const { token } of sessions) await served.json("/sessions/current", { method: "DELETE", token });
  const ratio = (way, cost) => median(rounds.map((seen) => seen[way][cost] / seen.plain[cost]));
  const [time, work] = [ratio("ours", "time"), ratio("ours", "work")];
  const grown = peak - before;
  const all_mb = (count * bytes.length) / MB;
  return {
    seen: `${time.toFixed(2)} × the time of Node's own (${work.toFixed(2)} × its work; a bare response of Hono's ${ratio("hono", "time").toFixed(2)} and ${ratio("hono", "work").toFixed(2)} ×), ${(all_mb / (first / 1000)).toFixed(0)} MB/s, ${before.toFixed(0)} → ${peak.toFixed(0)}, again ${again.toFixed(0)} → ${after.toFixed(0)} MiB`,
    bar: "≤ 1.3 × Node's own, < 1 MiB each, no more again",
    met: time <= 1.3 && grown < count && again < peak * 1.2,
    before,
    peak,
    again,
    after,
    rounds,
  };
}

/** Milliseconds in which whatever is sent without being read has been sent. */
const SENT = 5000;

/** So many downloads of which nothing is read, twice: memory while they wait. */
async function unread(served, bytes, count) {
  const { paths } = await stored(served, bytes, count);
  await readAll(served, paths.slice(0, 20), bytes.length);
  const before = await served.memory();
  const waiting = () =>
    peakDuring(served, async () => {
      const responses = await Promise.all(paths.map(([path, terms]) => served.open(path, terms)));
      await sleep(SENT);
      for (const response of responses) response.on("error", () => undefined).destroy();
      await sleep(500);
    });
  const peak = await waiting();
  const again = await waiting();
  const after = await served.memory();
  const each = ((Math.max(peak, again) - before) * 1024) / count;
  return {
    seen: `${before.toFixed(0)} → ${peak.toFixed(0)}, again ${again.toFixed(0)} → ${after.toFixed(0)} MiB, ${each.toFixed(0)} KiB each at the most`,
    bar: "< 1 MiB each",
    met: each < 1024,
    before,
    peak,
    again,
    after,
  };
}

/** The bytes in as many sessions as so many downloads take, and what to ask for each. */
async function stored(served, bytes, count) {
  const sessions = await Promise.all(
    Array.from({ length: Math.ceil(count / DOWNLOADS_PER_SESSION) }, () => served.session()),
  );
  const paths = [];
  for (const { token } of sessions) {
    const { artifact } = await served.json("/artifacts", { method: "POST", body: bytes, token });
    for (let at = 0; at < DOWNLOADS_PER_SESSION && paths.length < count; at += 1)
      paths.push([`/artifacts/${artifact.id}`, { token }]);
  }
  return { paths, sessions };
}

/** Milliseconds until all have been read, and those of the server's work on it. */
async function costOf(served, asked, length) {
  // What others left to collect is not this one's.
  await served.memory();
  const begun = await served.order("work");
  const time = await readAll(served, asked, length);
  return { time, work: (await served.order("work")) - begun };
}

/** Milliseconds until all have been read. None is read before all have begun. */
async function readAll(served, asked, length) {
  const begun = performance.now();
  const responses = await Promise.all(asked.map(([path, terms]) => served.open(path, terms)));
  const sizes = await Promise.all(responses.map((response) => sizeOf(response)));
  const wrong = sizes.findIndex((size) => size !== length);
  if (wrong !== -1)
    throw new Error(`a download of ${sizes[wrong]} bytes, and a status of ${responses[wrong].statusCode}`);
  return performance.now() - begun;
}

function sizeOf(response) {
  return new Promise((resolve, reject) => {
    let size = 0;
    response.on("data", (piece) => (size += piece.length));
    response.once("end", () => resolve(size)).once("error", reject);
  });
}

const LISTENERS_PER_SESSION = 16;
const EVENTS = 20;

/** So many listeners to events: memory before they come, while they listen, and when they have gone; and how soon all hear. */
async function listeners(served, count) {
  const sessions = await Promise.all(Array.from({ length: count / LISTENERS_PER_SESSION }, () => served.session()));
  const before = await served.memory();
  const open = (
    await Promise.all(
      sessions.map(async (session) =>
        Promise.all(Array.from({ length: LISTENERS_PER_SESSION }, () => listening(served, session.token))),
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

const LISTS = 50;

/** What a page, an upload and the end of a session cost beside so many others, against being alone. */
async function manySessions(served, count, each) {
  const all = [];
  for (let at = 0; at < count; at += 1) all.push(await served.session());
  const [first, ...others] = all;
  await served.order("fill", { sessions: [first.id], count: each });
  const alone = await costs(served, first, each);
  await served.order("fill", { sessions: others.map(({ id }) => id), count: each });
  const middle = all[count >> 1];
  const crowded = await costs(served, middle, each);
  const begun = performance.now();
  let deleted = 0;
  for (let at = 0; at < count; at += 8) {
    const ended = all
      .slice(at, at + 8)
      .map(({ token }) => served.json("/sessions/current", { method: "DELETE", token }));
    for (const { deleted_artifacts } of await Promise.all(ended)) deleted += deleted_artifacts;
  }
  const rate = deleted / ((performance.now() - begun) / 1000);
  const ratio = crowded.list / alone.list;
  return {
    seen: `a page ${alone.list.toFixed(1)} → ${crowded.list.toFixed(1)} ms (${ratio.toFixed(2)} ×), an upload ${alone.upload.toFixed(1)} → ${crowded.upload.toFixed(1)} ms (slowest ${crowded.slowestUpload.toFixed(0)}), ${deleted} deleted at ${rate.toFixed(0)}/s`,
    bar: "page < 1.5 ×, no upload > 5 s",
    met: ratio < 1.5 && crowded.slowestUpload < 5000 && deleted >= count * each,
    alone,
    crowded,
    rate,
  };
}

async function costs(served, { token }, each) {
  const lists = [];
  for (let round = 0; round < LISTS; round += 1) {
    const begun = performance.now();
    const { artifacts } = await served.json(`/artifacts?limit=${each}`, { token });
    if (artifacts.length !== each) throw new Error(`a page of ${artifacts.length}`);
    lists.push(performance.now() - begun);
  }
  // Into a trace of their own, so that pages stay as they are.
  const uploads = [];
  for (let round = 0; round < LISTS; round += 1) {
    const begun = performance.now();
    await served.json("/artifacts?trace=more", { method: "POST", body: `more ${round}`, token });
    uploads.push(performance.now() - begun);
  }
  return { list: median(lists), upload: median(uploads), slowestUpload: Math.max(...uploads) };
}

const share = process.argv.includes("--quick") ? 10 : 1;

/** 10 MB, as it is said. */
const bytes = pdfOf(10).subarray(0, 10_000_000);

/** Each step has a server of its own: memory that one left behind is not another's. */
const served = (use) =>
  inFolder(async (folder) => {
    const file = join(folder, "plain");
    writeFileSync(file, bytes);
    const server = await Served.start(join(folder, "store"), file);
    try {
      return await use(server);
    } finally {
      await server.stop();
    }
  });

const counts = { downloads: 500 / share, listeners: share === 1 ? 2000 : 208, sessions: 1000 / share };

await report("bench-serve.json", 1, [
  {
    work: `${counts.downloads} downloads of 10 MB at once`,
    measure: () => served((server) => downloads(server, bytes, counts.downloads)),
  },
  {
    work: `${counts.downloads} downloads of which nothing is read`,
    measure: () => served((server) => unread(server, bytes, counts.downloads)),
  },
  {
    work: `${counts.listeners} listeners to events`,
    measure: () => served((server) => listeners(server, counts.listeners)),
  },
  {
    work: `${counts.sessions} sessions of 100 artifacts`,
    measure: () => served((server) => manySessions(server, counts.sessions, 100)),
  },
]);
