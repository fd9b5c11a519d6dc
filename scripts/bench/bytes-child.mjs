/** What `bytes.mjs` measures, alone in its process: `compare MEBIBYTES ROUNDS` or `grow MEBIBYTES`. */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSluice, FileArtifactStore } from "../../dist/node.js";
import { inFolder, pdfOf, resultOf } from "./measure.mjs";

const CHUNK = 65_536;

const [, , mode, size, rounds] = process.argv;
console.log(JSON.stringify(await (mode === "compare" ? compare(Number(size), Number(rounds)) : grow(Number(size)))));

async function compare(mebibytes, count) {
  const bytes = pdfOf(mebibytes);
  const expected = createHash("sha256").update(bytes).digest("hex");
  const document = resultOf(bytes);
  const times = [];
  for (let round = -1; round < count; round += 1) {
    const time = { ours: await timed(ours, document, expected), plain: await timed(plain, document, expected) };
    if (round >= 0) times.push(time);
  }
  return times;
}

function timed(way, document, expected) {
  return inFolder(async (folder) => {
    // Loading the core is measured by itself, as first use.
    const go = await way(folder);
    globalThis.gc();
    const start = performance.now();
    const sha256 = await go(document);
    const time = performance.now() - start;
    if (sha256 !== expected) throw new Error("the stored bytes are not those that were sent");
    return time;
  });
}

async function ours(folder) {
  const sluice = await createSluice({ store: new FileArtifactStore(folder) });
  return async (document) => {
    const stream = sluice.open({ tool: "download", namespace: "bench" });
    for (let at = 0; at < document.length; at += CHUNK) await stream.write(document.subarray(at, at + CHUNK));
    const { artifacts } = await stream.close();
    return artifacts[0].sha256;
  };
}

/** The best that is done without Sluice: the same chunks decoded as UTF-8, parsed, decoded, hashed, written. */
async function plain(folder) {
  await mkdir(join(folder, "blobs"));
  return async (document) => {
    const decoder = new TextDecoder();
    let text = "";
    for (let at = 0; at < document.length; at += CHUNK)
      text += decoder.decode(document.subarray(at, at + CHUNK), { stream: true });
    const bytes = Buffer.from(JSON.parse(text).content[0].resource.blob, "base64");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await writeFile(join(folder, "blobs", sha256), bytes);
    return sha256;
  };
}

async function grow(mebibytes) {
  return inFolder(async (folder) => {
    const sluice = await createSluice({ store: new FileArtifactStore(folder) });
    const feed = async (count) => {
      const stream = sluice.open({ namespace: "bench" });
      await stream.write(Buffer.from('{"content":[{"type":"text","text":"'));
      // Multiples of three bytes, so that the pieces join to one run.
      const piece = Buffer.from(pdfOf(1).subarray(0, 1_048_575).toString("base64"));
      for (let i = 0; i < count; i += 1)
        for (let at = 0; at < piece.length; at += CHUNK) await stream.write(piece.subarray(at, at + CHUNK));
      await stream.write(Buffer.from('"}]}'));
      return stream.close();
    };
    await feed(2);
    globalThis.gc();
    const before = process.memoryUsage().rss;
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
    const { artifacts } = await feed(mebibytes);
    clearInterval(watch);
    if (artifacts[0].size_bytes !== mebibytes * 1_048_575) throw new Error("bytes are missing");
    return { grown: peak - before };
  });
}
