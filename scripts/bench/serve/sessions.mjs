/**
 * Many sessions, each with many artifacts.
 * @module
 */
import { median } from "../measure.mjs";

const LISTS = 50;

/** What a page, an upload and the end of a session cost beside so many others, against being alone. */
export async function sessions(served, count, each) {
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
