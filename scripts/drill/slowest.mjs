/**
 * The slowest requests, and what they waited for: by what was measured while they were under way.
 * @module
 */

/** The share of a request's time that has to be explained by one thing for it to be named. */
const SHARE = 0.4;

/** The share of the processors that is in use when both are. */
const BUSY = 0.93;

/** The number below which a share of them is. */
export function quantile(numbers, share) {
  const sorted = [...numbers].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** What lasts as long as its client likes. */
const LASTING = new Set(["listen"]);

/** Milliseconds of an operation: how many, the median, nine tenths, 99 of a hundred, and the most. */
export function latencies(attempts) {
  const times = new Map();
  for (const { operation, ms } of attempts) {
    if (LASTING.has(operation)) continue;
    const those = times.get(operation) ?? [];
    times.set(operation, those);
    those.push(ms);
  }
  return [...times].map(([operation, ms]) => {
    const [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1].map((share) => quantile(ms, share));
    return { operation, count: ms.length, p50, p90, p99, max };
  });
}

/** The slowest hundredth of all, each with what it waited for, summed up by operation, phase and cause. */
export function slowest({ attempts, probes, history, phases }) {
  const measured = attempts.filter(({ operation, ms }) => !LASTING.has(operation) && ms > 0);
  const bar = quantile(
    measured.map(({ ms }) => ms),
    0.99,
  );
  const those = measured.filter(({ ms }) => ms > bar);
  const groups = new Map();
  for (const each of those) {
    const cause = causeOf(each, { probes, history, phases });
    const key = `${each.operation}|${each.until}|${cause}`;
    const group = groups.get(key) ?? { operation: each.operation, phase: each.until, cause, count: 0, max: 0 };
    group.count += 1;
    group.max = Math.max(group.max, each.ms);
    groups.set(key, group);
  }
  return { bar, count: those.length, groups: [...groups.values()].sort((left, right) => right.count - left.count) };
}

function causeOf({ at, ms, status }, { probes, history, phases }) {
  const span = { from: at, to: at + ms };
  const down = phases.flatMap(({ downs = [] }) => downs);
  const shares = [
    ["a process that was down", covered(span, down)],
    ["Redis", covered(span, probes.redis.filter(isLate))],
    ["the store", covered(span, probes.store.filter(isLate))],
    ["collecting garbage", sumWithin(span, history, "collecting") / ms],
    ["the event loop of a process", mostWithin(span, history, "delay") / ms],
  ];
  const [name, share] = shares.reduce((most, each) => (each[1] > most[1] ? each : most));
  if (share >= SHARE) return name;
  if (status === 0) return "a connection that broke off";
  const busy = probes.machine.filter((each) => each.at >= span.from && each.at <= span.to + 250);
  const mean = busy.reduce((sum, each) => sum + each.busy, 0) / Math.max(1, busy.length);
  return mean >= BUSY ? "both processors, which had no time left" : "not explained";
}

/** Milliseconds from which on an answer is late. */
const LATE = 50;
const isLate = ({ from, to }) => to - from > LATE;

/** The share of a span in which one of these was under way. */
function covered({ from, to }, others) {
  let [sum, last] = [0, from];
  for (const other of [...others].sort((left, right) => left.from - right.from)) {
    const [begin, end] = [Math.max(last, other.from), Math.min(to, other.to)];
    if (end <= begin) continue;
    sum += end - begin;
    last = end;
  }
  return sum / Math.max(1, to - from);
}

const EVERY = 500;
const linesWithin = ({ from, to }, lines) => lines.filter(({ at }) => at > from && at - EVERY < to);

/** Of the process in which it is most. */
function mostWithin(span, history, name) {
  return Math.max(0, ...history.flatMap(({ lines }) => linesWithin(span, lines).map((line) => line[name])));
}

function sumWithin(span, history, name) {
  return Math.max(
    0,
    ...history.map(({ lines }) => linesWithin(span, lines).reduce((sum, line) => sum + line[name], 0)),
  );
}
