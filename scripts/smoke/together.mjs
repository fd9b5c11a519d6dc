/**
 * All of `deploy/compose.yaml`: two processes behind a balancer, one of which is killed, and then ended, while requests go on.
 * @module
 */
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answered, metricsOf, Session } from "./client.mjs";
import { Composition } from "./composition.mjs";

const SERVERS = ["sluice-1", "sluice-2"];
const FRONT = "http://localhost:8080";
const PROMETHEUS = "http://localhost:9090";

/** Bytes of the file that is stored: more than one part of an upload. */
const SIZE = 12_000_000;

/** Seconds that Prometheus may take: its interval, and what it takes to start. */
const SCRAPED = 40;

/** Requests that are asked after something happened. */
const MORE = 100;

/** Seconds that one has to end. */
const GRACE = 45;

/** Starts it, and does what users and machines do to it. */
export async function smokeTogether({ composition, images, deploy, folder, step }) {
  const running = new Composition(composition, { deploy, folder, images });
  try {
    await smokeRunning(running, deploy, step);
  } catch (error) {
    console.log(running.said);
    throw error;
  }
}

async function smokeRunning(running, deploy, step) {
  const secret = (name) => readFileSync(join(deploy, "secrets", name), "utf8");
  await step("Redis and an S3 service start, and the bucket is made", async () => {
    await Promise.all([running.startRedis(), running.startS3()]);
    const bucket = await running.start("bucket");
    assert.equal(await bucket.end(), 0, bucket.said);
  });
  await step("two processes, a server of tools, balancer and Prometheus start", async () => {
    await running.start("tools");
    for (const name of SERVERS) await running.start(name);
    for (const name of SERVERS) await running.containers.get(name).healthy();
    await Promise.all([running.startBalancer(), running.startPrometheus()]);
    await answered(`${FRONT}/ready`);
  });
  const [one, other] = SERVERS.map((name) => `http://${name}:4751`);
  const session = await step("a session that began at one is served by the other", async () => {
    const begun = await Session.begun(one, secret("serve_token"));
    const stored = await begun.upload(one, SIZE);
    await begun.download(other, stored);
    await begun.callEverything(other);
    for (const name of SERVERS)
      assert.match(await metricsOf(`http://${name}:9464/metrics`, secret("metrics_token")), /^http_server_/m);
    return [begun];
  });
  await step("the same through the balancer, and events come as they happen", async () => {
    await session.download(FRONT, await session.upload(FRONT, SIZE));
    await session.callEverything(FRONT);
    await eventComes(session);
  });
  await step("Prometheus sees both", () => bothAreUp());
  await step("one is killed: requests go on", async () => {
    const counts = await whileAsking(session, async (asked) => {
      await running.containers.get(SERVERS[0]).kill();
      await asked(MORE);
    });
    await answered(`${FRONT}/ready`);
    return [undefined, told(counts)];
  });
  await step("it comes back, and the other is ended: no request fails", async () => {
    await running.start(SERVERS[0]);
    await running.containers.get(SERVERS[0]).healthy();
    let ended;
    const counts = await whileAsking(session, async (asked) => {
      await isAsked(SERVERS[0], secret("metrics_token"));
      ended = await running.containers.get(SERVERS[1]).stop(GRACE);
      await asked(MORE);
    });
    assert.ok([0, 143].includes(ended.code), `exit code ${ended.code}`);
    assert.equal(counts.failed, 0, told(counts));
    return [undefined, `${told(counts)}; exit code ${ended.code}, ${ended.milliseconds} ms`];
  });
  await step("the last one ends", async () => {
    const { code } = await running.containers.get(SERVERS[0]).stop(GRACE);
    assert.ok([0, 143].includes(code), `exit code ${code}`);
    await answered(`${FRONT}/ready`, { want: 503 });
  });
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until something holds; throws after a minute. */
async function comesTrue(what, holds) {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `not after a minute: ${what}`);
    await pause(100);
  }
}

/** Waits until the balancer asks a process again. */
async function isAsked(name, token) {
  const counted = /^http_server_request_duration_seconds_count\{[^}]*artifacts[^}]*\} [1-9]/m;
  await comesTrue(`requests reach ${name}`, async () =>
    counted.test(await metricsOf(`http://${name}:9464/metrics`, token)),
  );
}

/**
 * Asks for the session's artifacts, four at a time, until the work is done, which may wait until so many more are. One whose connection was
 * cut is a failure.
 */
async function whileAsking(session, work) {
  const counts = { answered: 0, failed: 0 };
  const over = new AbortController();
  const asking = async () => {
    while (!over.signal.aborted) {
      const status = await session.ask(`${FRONT}/artifacts`).then(
        async (answer) => (await answer.arrayBuffer(), answer.status),
        () => 0,
      );
      counts[status === 200 ? "answered" : "failed"] += 1;
      await pause(10);
    }
  };
  const all = Array.from({ length: 4 }, asking);
  await pause(500);
  try {
    await work(async (more) => {
      const enough = counts.answered + counts.failed + more;
      await comesTrue(`${more} more requests`, () => counts.answered + counts.failed >= enough);
    });
  } finally {
    over.abort();
    await Promise.all(all);
  }
  // Those that were under way at the one that was killed, of which four were.
  assert.ok(counts.failed <= 4, told(counts));
  return counts;
}

const told = (counts) => `${counts.answered} answered, ${counts.failed} failed`;

/** An event of something that another request did arrives at once, though the stream is open. */
async function eventComes(session) {
  const stream = await session.ask(`${FRONT}/events`);
  assert.equal(stream.status, 200);
  const reader = stream.body.pipeThrough(new TextDecoderStream()).getReader();
  const uploaded = pause(500).then(() => session.upload(FRONT, 1000));
  const until = Date.now() + 10_000;
  let read = "";
  const { id } = await uploaded;
  while (!read.includes(id)) {
    assert.ok(Date.now() < until, "the event came late");
    const { value, done } = await reader.read();
    assert.ok(!done, "the stream ended");
    read += value;
  }
  await reader.cancel();
}

async function bothAreUp() {
  const until = Date.now() + SCRAPED * 1000;
  for (;;) {
    const answer = await fetch(`${PROMETHEUS}/api/v1/query?query=${encodeURIComponent('up{job="sluice"} == 1')}`);
    const { data } = await answer.json();
    if (data.result.length === SERVERS.length) return [undefined, `within ${SCRAPED} s`];
    assert.ok(Date.now() < until, `Prometheus sees ${data.result.length} of ${SERVERS.length}`);
    await pause(500);
  }
}
