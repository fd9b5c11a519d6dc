/**
 * Loaded into a server beside its own modules (`--import`): writes down twice a second how it is, by the machine's monotonic clock.
 * @module
 */
import { createWriteStream } from "node:fs";
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const EVERY = 500;

if (process.env.DRILL_WATCH !== undefined) {
  const out = createWriteStream(process.env.DRILL_WATCH, { flags: "a" });
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  let collecting = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collecting += duration;
  }).observe({ entryTypes: ["gc"] });
  // Only to look at memory: nothing that is garbage already is counted as in use.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  process.on("SIGUSR2", () => {
    collect();
    collect();
  });
  setInterval(() => {
    const { rss, heapUsed, external } = process.memoryUsage();
    const at = Number(process.hrtime.bigint()) / 1e6;
    const cpu = process.cpuUsage();
    const line = {
      at,
      rss,
      heapUsed,
      external,
      delay: delay.max / 1e6,
      collecting,
      cpu: (cpu.user + cpu.system) / 1000,
    };
    out.write(`${JSON.stringify(line)}\n`);
    delay.reset();
    collecting = 0;
  }, EVERY).unref();
}
