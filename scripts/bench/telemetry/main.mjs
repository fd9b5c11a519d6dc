/**
 * `npm run bench:telemetry`: what it costs that calls are seen, beside calls that nobody sees.
 * @module
 */
import { apart, lowerQuartile, report } from "../measure.mjs";

const ROUNDS = 6;
const SETTINGS = ["off", "api", "metrics", "sdk"];

/** Of each setting what the rounds saw, in turns, so that the machine's moods meet all of them. */
const seen = new Map(SETTINGS.map((setting) => [setting, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const setting of SETTINGS) seen.get(setting).push(await apart("telemetry/child.mjs", setting));
}

const of = (setting, work) => lowerQuartile(seen.get(setting).map((each) => each[work]));

/** Most microseconds that a call may take longer. */
const BARS = { api: 2, metrics: 15, sdk: 60 };

function row(work, setting) {
  const [plain, now] = [of("off", work), of(setting, work)];
  const more = now - plain;
  return {
    seen: `${now.toFixed(1)} µs, ${more < 0 ? "−" : "+"}${Math.abs(more).toFixed(1)} µs`,
    bar: `≤ +${BARS[setting]} µs`,
    met: more <= BARS[setting],
    microseconds: now,
  };
}

const NAMES = { api: "the API without an SDK", metrics: "what /metrics counts", sdk: "spans and metrics in an SDK" };
const WORKS = { call: "a call through the proxy's interceptor, 2 KB", reduce: "a result in the library, 2 KB" };
const steps = Object.entries(WORKS).flatMap(([work, what]) => [
  { work: `${what}: unseen`, measure: () => ({ seen: `${of("off", work).toFixed(1)} µs`, bar: "", met: true }) },
  ...Object.entries(NAMES).map(([setting, name]) => ({ work: `… with ${name}`, measure: () => row(work, setting) })),
]);
const results = await report("bench-telemetry.json", ROUNDS, steps);
process.exitCode = results.every(({ met }) => met) ? 0 : 1;
