/**
 * A process that serves a store which others serve too. In each round one session stores a few contents that all sessions store, and
 * ends or leaves them to expire; another stores the same and reads it back, while all of them collect without a pause.
 *
 * node program STORE SEED SECONDS
 *
 * STORE is a folder, or what there is to say of a bucket as JSON. Prints a line for each download, `same`, `late` where it took longer
 * than artifacts are kept, else what came in its place; and for each collection `took` and how many.
 */
import { FileArtifactStore } from "../../../../web/src/node.js";
import { S3ArtifactStore } from "../../../../web/src/s3.js";
import { RetainingArtifactStore } from "../../../../web/src/artifacts/retention/retaining-store.js";
import { listen, SluiceServer } from "../../../../web/src/serve.js";
import { noise } from "../../artifacts/bytes.js";
import { Visitor } from "../visitor.js";

const [place = "", seed = "1", seconds = "5"] = process.argv.slice(2);
const TTL = 2;
const CONTENTS = 6;
const HANDS = 3;
const limits = { requestsPerMinute: 1_000_000, sessionsPerMinute: 1_000_000 };
const store = place.startsWith("{")
  ? new S3ArtifactStore(JSON.parse(place) as ConstructorParameters<typeof S3ArtifactStore>[0])
  : new FileArtifactStore(place, { sweepAfter: 60_000 });
const until = Date.now() + Number(seconds) * 1000;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const server = new SluiceServer({
  store,
  retention: { ttl_seconds: TTL },
  limits,
  onError: (error) => print(`failed ${String(error)}`),
});
const listening = await listen(server, { host: "127.0.0.1", port: 0 });

/** Contents are the same in all processes, small and large ones. */
const content = (number: number): Uint8Array<ArrayBuffer> => noise(1000 + number * number * 20_000, number + 1);

async function leaving(turn: number): Promise<void> {
  const visitor = await Visitor.at(listening.port);
  for (let number = 0; number < CONTENTS; number++)
    if ((number + turn) % 2 === 0) await visitor.upload(content(number));
  if (turn % 3 !== 0) await visitor.end();
}

async function reading(turn: number): Promise<void> {
  const visitor = await Visitor.at(listening.port);
  const number = (turn * 7) % CONTENTS;
  const begun = Date.now();
  const { id } = await visitor.upload(content(number));
  for (let time = 0; time < 3; time++) {
    const response = await visitor.ask(`/artifacts/${id}`);
    const got = await response.arrayBuffer().catch((error: unknown) => String(error));
    const isSame = response.status === 200 && typeof got !== "string" && Buffer.from(got).equals(content(number));
    if (isSame) print("same");
    else
      print(Date.now() - begun > TTL * 900 ? "late" : `lost ${response.status} ${typeof got === "string" ? got : ""}`);
  }
  await visitor.end();
}

async function collecting(): Promise<void> {
  const collector = new RetainingArtifactStore(store, { ttl_seconds: TTL });
  while (Date.now() < until) {
    print(`took ${(await collector.collect())?.artifacts ?? 0}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await store.gc();
  }
}

async function working(hand: number): Promise<void> {
  for (let turn = Number(seed) * 100 + hand; Date.now() < until; turn++) {
    await Promise.all([leaving(turn), reading(turn)]);
  }
}

await Promise.all([collecting(), ...Array.from({ length: HANDS }, (_, hand) => working(hand))]);
await listening[Symbol.asyncDispose]();
await server[Symbol.asyncDispose]();
if (store instanceof S3ArtifactStore) await store.close();
