/**
 * A result with many bytes: through the gate into the file store, and the plain way.
 * @module
 */
import { apart, median } from "./measure.mjs";

/** Least ratio of the plain time to ours. */
const RATIO = 2.5;

/** Most growth of the process, in MiB. */
const GROWTH = 40;

/** Time of both ways in turn, each round in a process of its own. */
export async function compareBytes(mebibytes, rounds) {
  const times = await apart("bytes-child.mjs", "compare", mebibytes, rounds);
  const ratios = times.map(({ plain, ours }) => plain / ours);
  const ratio = median(ratios);
  const ours = median(times.map((time) => time.ours));
  const plain = median(times.map((time) => time.plain));
  return {
    seen: `${ratio.toFixed(2)} × faster (${ours.toFixed(0)} ms against ${plain.toFixed(0)} ms)`,
    bar: `≥ ${RATIO} ×`,
    met: ratio >= RATIO,
    ratio,
    ratios,
    ours,
    plain,
  };
}

/** How much the process grew while a document was fed that was made as it went. */
export async function growth(mebibytes) {
  const { grown } = await apart("bytes-child.mjs", "grow", mebibytes);
  const mib = grown / 1048576;
  return { seen: `+${mib.toFixed(1)} MiB`, bar: `< ${GROWTH} MiB`, met: mib < GROWTH, mib };
}
