/**
 * What is told of a drill: tables to read, all figures as JSON, and the block in the documentation.
 * @module
 */
import { cpus } from "node:os";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keep, markdown } from "../bench/measure.mjs";
import { root } from "../run.mjs";
import { errorsOf, grouped } from "./judge.mjs";
import { latencies, slowest } from "./slowest.mjs";

const PAGE = join(root, "docs/drill.md");
const BLOCK = ["<!-- the figures -->", "<!-- the end of the figures -->"];

/** A second day may be slower by so much in the median of an operation: the machine has other things to do. */
const WORSE = 1.25;

/** All that is kept of a day. `first` is the day before in the same processes, to compare with. */
export function summaryOf(name, day, rows, first) {
  const { counts, tolds, wrongs, begun, ended, level, left, work, requests, phases, attempts, history } = day;
  const calm = attempts.filter(({ phase, until }) => phase === "work" && until === "work");
  const seconds = (ended - begun) / 1000;
  const figures = { calm: latencies(calm), all: latencies(attempts), slowest: slowest(day) };
  const each = (number) => number / Math.max(1, counts.artifacts);
  const cpu = history.reduce((sum, { lines }) => sum + workOf(lines), 0);
  const peak = Math.max(...history.flatMap(({ lines }) => lines.map(({ rss }) => rss)));
  const cost = {
    seconds,
    artifactsPerSecond: counts.artifacts / seconds,
    requests: attempts.length,
    cpuMs: each(cpu),
    redis: work && {
      commands: each(work.commands),
      cpuMs: each(work.cpu),
      input: each(work.input),
      output: each(work.output),
    },
    store: requests && Object.fromEntries(Object.entries(requests).map(([kind, number]) => [kind, each(number)])),
    eventsHeard: counts.events,
    peak,
  };
  const compared = first === undefined ? [] : comparison(first, { figures, level, left });
  return {
    name,
    verdicts: [...rows, ...compared],
    counts,
    tolds,
    wrongs,
    errors: errorsOf(day),
    phases: phases.map(({ name: phase, from, to, drained, isSkipped }) => ({
      name: phase,
      seconds: (to - from) / 1000,
      drained,
      isSkipped,
    })),
    figures,
    cost,
    level,
    left,
  };
}

/** Milliseconds of processor time, over all processes that there were in this place. */
function workOf(lines) {
  let [sum, last] = [0, lines[0]?.cpu ?? 0];
  for (const { cpu } of lines) {
    sum += cpu >= last ? cpu - last : cpu;
    last = cpu;
  }
  return sum;
}

const median = (found, operation) => found.calm.find((each) => each.operation === operation)?.p50 ?? 0;

/** Whether the second day is no worse than the first. */
function comparison(first, { figures, left }) {
  const rows = [];
  const slower = figures.calm
    .filter(
      ({ operation, count }) =>
        count >= 100 && median(figures, operation) > 5 + WORSE * median(first.figures, operation),
    )
    .map(({ operation }) => operation);
  rows.push({
    work: "the second day's medians",
    seen: slower.length === 0 ? "none is worse" : `worse: ${slower.join(", ")}`,
    bar: "at most a quarter and 5 ms more",
    met: slower.length === 0,
  });
  for (const { name, rss } of left.processes) {
    const before = first.left.processes.find((each) => each.name === name)?.rss ?? 0;
    const more = 30 * 1024 * 1024;
    rows.push({
      work: `memory of ${name} behind the second day`,
      seen: `${(before / 2 ** 20).toFixed(0)} MiB, then ${(rss / 2 ** 20).toFixed(0)} MiB`,
      bar: "20 % or 30 MiB more",
      met: rss <= before + Math.max(more, before * 0.2),
    });
  }
  return rows;
}

const ms = (number) => (number < 10 ? number.toFixed(1) : grouped(number));

function verdictTable(rows) {
  return markdown(
    ["what", "seen", "bar"],
    rows.map(({ work, seen, bar, met }) => [work, seen, `${bar}${met ? "" : " (**not met**)"}`]),
  );
}

function latencyTable({ calm, all }) {
  const lines = all.map(({ operation, count, ...worst }) => {
    const { p50, p90, p99, max } = calm.find((each) => each.operation === operation) ?? {};
    const cells = [p50, p90, p99, max].map((number) => (number === undefined ? "" : ms(number)));
    return [operation, grouped(count), ...cells, ms(worst.p50), ms(worst.p99), ms(worst.max)];
  });
  return markdown(["operation, ms", "attempts", "p50", "p90", "p99", "most", "p50, faults too", "p99", "most"], lines, {
    numbers: true,
  });
}

function slowTable({ count, groups }) {
  const lines = groups
    .slice(0, 20)
    .map(({ operation, phase, cause, count: some, max }) => [
      `${operation}, while: ${phase}`,
      cause,
      `${grouped(some)} (${((100 * some) / Math.max(1, count)).toFixed(0)} %)`,
      ms(max),
    ]);
  return markdown(["the slowest 1 %", "what it waited for", "how many", "most ms"], lines);
}

function costTable({ cost }) {
  const { cpuMs, redis, store, artifactsPerSecond, peak } = cost;
  const lines = [
    ["artifacts a second", artifactsPerSecond.toFixed(0)],
    ["processor time of the processes", `${cpuMs.toFixed(1)} ms`],
    ["most memory of a process", `${(peak / 2 ** 20).toFixed(0)} MiB`],
  ];
  if (redis) {
    const { commands, cpuMs: time, input, output } = redis;
    lines.push(
      ["Redis commands, those in scripts too", commands.toFixed(1)],
      ["processor time of Redis", `${time.toFixed(2)} ms`],
    );
    lines.push(["bytes to Redis and back", `${grouped(input)} and ${grouped(output)}`]);
  }
  for (const [kind, number] of Object.entries(store ?? {}))
    if (number > 0.001) lines.push([`S3: ${kind}`, number < 100 ? number.toFixed(2) : grouped(number)]);
  return markdown(["for each artifact, all that its session does with it", "seen"], lines);
}

/** Medians and the slowest hundredth without faults, of a day and of the one before. */
function daysTable(day, first) {
  const lines = day.figures.calm.map(({ operation, count, p50, p99 }) => {
    const before = first.figures.calm.find((each) => each.operation === operation);
    const cells = before === undefined ? ["", ""] : [ms(before.p50), ms(before.p99)];
    return [operation, grouped(count), cells[0], ms(p50), cells[1], ms(p99)];
  });
  const head = ["operation, ms", "attempts", "p50, first day", "second day", "p99, first day", "second day"];
  return markdown(head, lines, { numbers: true });
}

/** The whole as Markdown. */
function figuresOf({ scale, days }) {
  const cpu = cpus();
  const minutes = days.reduce((sum, { cost }) => sum + (cost?.seconds ?? 0) / 60, 0);
  const isTwice = days.some(({ isSecond }) => isSecond);
  const size = scale === 1 ? "A whole day" : `A day of ${scale}`;
  const head = `${size}${isTwice ? ", twice" : ""}, in ${minutes.toFixed(0)} minutes on ${cpu.length} cores (${cpu[0]?.model.trim()}), Node ${process.versions.node}.\n`;
  const parts = days.map((day, at) => {
    const { name, figures, isSecond } = day;
    const tables = [`### ${name[0].toUpperCase()}${name.slice(1)}\n`, verdictTable(day.verdicts)];
    if (isSecond) tables.push(daysTable(day, days[at - 1]));
    else if (figures) tables.push(costTable(day), latencyTable(figures), slowTable(figures.slowest));
    return tables.join("\n");
  });
  return `${head}\n${parts.join("\n")}`;
}

export function print(all) {
  console.log(figuresOf(all));
  const missed = all.days.flatMap(({ name, verdicts: rows }) =>
    rows.filter(({ met }) => !met).map(({ work }) => `${name}: ${work}`),
  );
  console.log(missed.length === 0 ? "Everything holds." : `What does not hold: ${missed.join("; ")}.`);
}

/** Parts in the order in which they are told. */
const ORDER = ["disk", "folder", "bucket"];

/** Keeps figures in `build/drill.json`, beside those of other parts at the same scale, and gives all that is there then. */
export function keptWith({ scale, days }) {
  const file = join(root, "build/drill.json");
  const before = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { scale, days: [] };
  const others = before.scale === scale ? before.days.filter((day) => !days.some(({ part }) => part === day.part)) : [];
  const all = [...others, ...days].sort((left, right) => ORDER.indexOf(left.part) - ORDER.indexOf(right.part));
  keep("drill.json", { scale, days: all });
  return { scale, days: all };
}

/** Puts the figures into the documentation. */
export function writeFigures(all) {
  const page = readFileSync(PAGE, "utf8");
  const [before, rest] = page.split(BLOCK[0]);
  const [, after] = rest.split(BLOCK[1]);
  writeFileSync(PAGE, `${before}${BLOCK[0]}\n\n${figuresOf(all)}\n${BLOCK[1]}${after}`);
}
