/**
 * Many downloads at once.
 * @module
 */
import { peakDuring } from "./client.mjs";

const MB = 1_000_000;
const A_SESSION = 50;

/** So many downloads of the same bytes at once: memory while they run, and time against Node's own streams. */
export async function downloads(served, bytes, count) {
  const sessions = await Promise.all(Array.from({ length: Math.ceil(count / A_SESSION) }, () => served.session()));
  const paths = [];
  for (const { token } of sessions) {
    const { artifact } = await served.json("/artifacts", { method: "POST", body: bytes, token });
    for (let at = 0; at < A_SESSION && paths.length < count; at += 1)
      paths.push([`/artifacts/${artifact.id}`, { token }]);
  }
  const plainly = paths.map(() => ["/", { port: served.plain }]);
  // Once for both beforehand, so that neither is the first.
  for (const each of [paths, plainly]) await all(served, each.slice(0, 20), bytes.length);
  const before = await served.memory();
  let time;
  const peak = await peakDuring(served, async () => (time = await all(served, paths, bytes.length)));
  const again = await peakDuring(served, () => all(served, paths, bytes.length));
  const after = await served.memory();
  const plainTime = await all(served, plainly, bytes.length);
  for (const { token } of sessions) await served.json("/sessions/current", { method: "DELETE", token });
  const ratio = time / plainTime;
  const grown = peak - before;
  const all_mb = (count * bytes.length) / MB;
  return {
    seen: `${before.toFixed(0)} → ${peak.toFixed(0)}, again ${again.toFixed(0)} → ${after.toFixed(0)} MiB, ${(all_mb / (time / 1000)).toFixed(0)} MB/s, ${ratio.toFixed(2)} × the time of Node's own`,
    bar: "< 1 MiB each, no more again",
    met: grown < count && again < peak * 1.2,
    before,
    peak,
    again,
    after,
    time,
    plainTime,
  };
}

/** Milliseconds until all have been read. None is read before all have begun. */
async function all(served, asked, length) {
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
