/**
 * What has to hold at the end of a day. Each verdict is a row: what it is about, what was seen, the bar, whether it is met.
 * @module
 */

const MIB = 1024 * 1024;

/** A process may have so much more at the end than at its level, whichever is more. */
const MORE = { share: 0.2, bytes: 30 * MIB };

/** Answers that are the very thing that was asked for: what is gone, and what is another's. */
const WANTED = new Set(["deleted", "attack"]);

/** Seconds for which it is remembered that something is over. */
const REMEMBERED = 660;

const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
const mebibytes = (bytes) => `${(bytes / MIB).toFixed(0)} MiB`;

/** Errors that clients saw, each once for its operation, code and phase, and whether that is to be expected. */
export function errorsOf({ attempts, phases }) {
  const allowed = new Map(phases.map((phase) => [phase.name, phase.allowed ?? []]));
  const found = new Map();
  for (const { operation, phase, until, status, code } of attempts) {
    if (status !== 0 && status < 400) continue;
    if (WANTED.has(operation) && [401, 404, 410].includes(status)) continue;
    // An attempt before this one did it, and its answer was lost.
    const isDone = (operation === "delete" && [404, 410].includes(status)) || (operation === "end" && status === 401);
    const isAgain = isDone && until !== "work";
    const codes = [...(allowed.get(phase) ?? []), ...(allowed.get(until) ?? [])];
    const isAllowed = isAgain || codes.some((each) => code.startsWith(each)) || isLongStream(operation, code);
    const key = `${operation}|${until}|${code}`;
    const one = found.get(key) ?? { operation, phase: until, status, code, count: 0, isAllowed };
    one.count += 1;
    one.isAllowed &&= isAllowed;
    found.set(key, one);
  }
  return [...found.values()].sort((left, right) => right.count - left.count);
}

/** A listener ends its own connection when its session does. */
const isLongStream = (operation, code) => operation === "listen" && code.startsWith("no answer");

/** All verdicts of a day. */
export function verdicts(day) {
  const { counts, wrongs, tolds, level, left, phases } = day;
  const errors = errorsOf(day);
  const wrong = Object.entries(wrongs);
  const refused = errors.filter(({ isAllowed }) => !isAllowed);
  const rows = [];
  const row = (work, seen, bar, met) => rows.push({ work, seen, bar, met });
  const {
    sessions = 0,
    ended = 0,
    artifacts = 0,
    verified = 0,
    compared = 0,
    deleted = 0,
    runs = 0,
    events = 0,
    attacks = 0,
  } = counts;
  row(
    "sessions",
    `${grouped(sessions)} begun, ${grouped(ended)} ended`,
    "all of them",
    ended >= sessions - (counts["large sessions"] ?? 0),
  );
  row(
    "what was acknowledged",
    `${grouped(artifacts)} artifacts; ${grouped(verified)} times a line of a ledger was compared with the server's list, ${grouped(compared)} times all bytes; ${grouped(deleted)} deleted`,
    "nothing is lost, or something else",
    wrong.every(([what]) => !/acknowledged|bytes|listed|ranges|deleted/.test(what)),
  );
  row(
    "another's",
    `${grouped(attacks)} attacks`,
    "all refused, as what never was",
    wrong.every(([what]) => !/another's|forged/.test(what)),
  );
  const untold = Object.entries(tolds).filter(([what]) => what.startsWith("acknowledged, and no event"));
  row(
    "events",
    `${grouped(events)}, in order; ${sum(untold.map(([, count]) => count))} of acknowledged artifacts did not come${untold.length === 0 ? "" : `: ${untold.map(([what, count]) => `${count} (${what.split(" | ")[1]})`).join(", ")}`}`,
    "in order, once, and each of them unless Redis was away",
    wrong.every(([what]) => !what.startsWith("events")) && untold.every(([what]) => what.includes("Redis")),
  );
  const failed = Object.entries(tolds).filter(([what]) => what.startsWith("a run that failed"));
  row(
    "runs of the chat",
    `${grouped(runs)}, ${sum(failed.map(([, count]) => count))} failed`,
    "each ends once",
    wrong.every(([what]) => !what.startsWith("a run")),
  );
  const others = wrong.filter(
    ([what]) => !/acknowledged|bytes|listed|ranges|deleted|another's|forged|^events|^a run/.test(what),
  );
  row(
    "all else",
    others.length === 0 ? "nothing" : others.map(([what, { count }]) => `${count} × ${what}`).join("; "),
    "nothing",
    others.length === 0,
  );
  row(
    "errors that clients saw",
    `${grouped(sum(errors.map(({ count }) => count)))} of ${grouped(day.attempts.length)} attempts${refused.length === 0 ? "" : `; not expected: ${refused.map(({ operation, phase, code, status, count }) => `${count} × ${operation} ${status} ${code || "without a code"} (${phase})`).join(", ")}`}`,
    "each has a code that belongs to what went wrong",
    refused.length === 0,
  );
  for (const { name, rss, files, sockets } of left.processes) {
    const before = level.processes.find((each) => each.name === name);
    const most = before.rss + Math.max(MORE.bytes, before.rss * MORE.share);
    row(
      `memory of ${name}, at rest`,
      `${mebibytes(before.rss)} before the work, ${mebibytes(rss)} after`,
      "20 % or 30 MiB more",
      rss <= most,
    );
    row(
      `open files and sockets of ${name}`,
      `${before.files} and ${before.sockets} before, ${files} and ${sockets} after`,
      "at most 8 more",
      files <= before.files + 8,
    );
  }
  if (left.redis) {
    const each = (left.redis.used - level.redis.used) / 1024;
    const { sessions: over, longest } = left.kept;
    // Whoever was not answered when a session began does not know of it, and it ends by itself.
    const lost = day.attempts.filter(({ operation, status }) => operation === "begin" && status !== 201).length;
    row(
      "what is left in Redis",
      `${grouped(left.redis.keys)} keys, ${each.toFixed(0)} KiB more than at its level; ${over} sessions, the rest for ${longest.toFixed(0)} s at most`,
      `no session but those whose beginning was not answered (${lost}); nothing else for longer than eleven minutes`,
      over <= lost && longest <= REMEMBERED,
    );
  }
  // A session whose end broke off is over, and what it stored goes when it expires.
  const broken = day.attempts.filter(({ operation, status }) => operation === "end" && status !== 200).length;
  const [what, each, most] = day.store === "bucket" ? ["objects", 90, 200] : ["files", 60, 10];
  row(
    "what is left in the store",
    `${left.objects} ${what}; ${broken} attempts to end a session broke off`,
    `at most ${most}, and ${each} for each session whose end broke off, which expire`,
    left.objects <= most + each * broken,
  );
  for (const { name, isSkipped } of phases) if (isSkipped) row(name, `SKIPPED: ${isSkipped}`, "done", false);
  return rows;
}

export const grouped = (number) => Math.round(number).toLocaleString("en");
