/** An answer that does not fit anywhere but on disk. */
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, onTestFinished, test } from "vitest";
import { FileArtifactStore } from "../../../../../web/src/artifacts/file/file-store.js";
import { createSluice } from "../../../../../web/src/index.js";
import { httpSource } from "../../../../../web/src/tools/sources/http.js";
import { api, called, manual, opened } from "../api.js";

const PIECE = 65_536;
const PIECES = 1024;

test("64 MiB arrive as they are, and what was sent is never ahead of the store by much", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-large-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const store = new FileArtifactStore(folder);
  const hash = createHash("sha256");
  let sent = 0;
  function* body(): Generator<Buffer> {
    for (let n = 0; n < PIECES; n++) {
      const piece = Buffer.alloc(PIECE);
      for (let at = 0; at < PIECE; at++) piece[at] = (at * 31 + (at >> 8) + n) & 0xff;
      hash.update(piece);
      sent += PIECE;
      yield piece;
    }
  }
  const ahead = watched(store, () => sent);
  const server = await api((_, response) => {
    response.setHeader("content-type", "application/octet-stream");
    void pipeline(Readable.from(body()), response).catch(() => undefined);
  });
  const connection = JSON.stringify(manual({ get: { url: `${server.origin}/big.bin` } }));
  const source = await opened(httpSource({ name: "api", connection, sluice: await createSluice({ store }) }));
  const { reduced } = await called(source, "get");
  expect(reduced.artifacts).toMatchObject([
    { size_bytes: PIECE * PIECES, sha256: hash.digest("hex"), filename: "big.bin" },
  ]);
  expect(reduced.text.length).toBeLessThan(1_000);
  // Most of it is in the buffers of sockets.
  expect(ahead()).toBeLessThan(24 * 1024 * 1024);
});

/** How far what was sent got ahead of what a store has taken, which takes its time. */
function watched(store: FileArtifactStore, sent: () => number): () => number {
  let most = 0;
  const openWriter = store.openWriter.bind(store);
  store.openWriter = async (...args) => {
    const writer = await openWriter(...args);
    const write = writer.write.bind(writer);
    let taken = 0;
    writer.write = async (chunk) => {
      await new Promise((resolve) => setImmediate(resolve));
      await write(chunk);
      taken += chunk.length;
      most = Math.max(most, sent() - taken);
    };
    return writer;
  };
  return () => most;
}
