/**
 * Streams a result with bytes as base64 through the built library into a file store, and prints what was stored
 * and by how many bytes the process grew at most.
 *
 * node memory-program.mjs LIBRARY FOLDER PIECES   a piece is 48 KiB; its number is in every byte of it
 */
const [library, folder, pieces] = process.argv.slice(2);
const { createSluice, FileArtifactStore } = await import(library);
const sluice = await createSluice({ store: new FileArtifactStore(folder) });

async function streamed(count) {
  const stream = sluice.open({ namespace: "huge", tool: "dump" });
  const piece = Buffer.alloc(48 * 1024);
  let peak = 0;
  await stream.write(Buffer.from(`{"content":[{"type":"resource","resource":{"uri":"file:///dump.bin","blob":"`));
  for (let n = 0; n < count; n += 1) {
    for (let at = 0; at < piece.length; at += 1) piece[at] = (at * 31 + (at >> 8) + n) & 0xff;
    await stream.write(Buffer.from(piece.toString("base64")));
    peak = Math.max(peak, process.memoryUsage.rss());
  }
  await stream.write(Buffer.from(`"}}]}`));
  const { text, artifacts } = await stream.close();
  return { text, artifacts, peak: Math.max(peak, process.memoryUsage.rss()) };
}

await streamed(200); // what the first use loads and compiles is not what is asked
const before = process.memoryUsage.rss();
const { text, artifacts, peak } = await streamed(Number(pieces));
process.stdout.write(JSON.stringify({ text, artifacts, growth: peak - before }));
