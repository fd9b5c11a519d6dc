/**
 * The proxy over stdio: large results, memory, small calls, its start.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { inFolder, median } from "../measure.mjs";
import { Connection, DIRECT, proxied } from "./connection.mjs";
import { apart } from "./sdk.mjs";

const MIB = 1024 * 1024;

/** Most times of the bare pipe that ours may take. */
const PIPES = 3;

/** How many times faster than the SDKs. */
const FASTER = 50;

/** Most memory of the proxy, in MiB. */
const PEAK = 110;

/** Most time in ms that a small call may take longer. */
const ADDED = 0.15;

/** Most time in ms that the proxy itself may take to start. */
const START = 100;

/** Reading, JSON.parse, Buffer.from, SHA-256, without any SDK. */
async function plain(connection, id, bytes) {
  const start = performance.now();
  const line = await connection.bytes(id, bytes);
  const { result } = JSON.parse(Buffer.concat(line).toString());
  const content = Buffer.from(result.content[0].resource.blob, "base64");
  const hash = createHash("sha256").update(content).digest("hex");
  return { time: performance.now() - start, hash };
}

/** Through the proxy: the reduced answer, when the bytes are stored and hashed. */
async function reduced(connection, id, bytes) {
  const start = performance.now();
  const line = await connection.bytes(id, bytes);
  const answer = Buffer.concat(line).toString();
  return { time: performance.now() - start, answer };
}

/** A single call of a new proxy, and the most memory that the proxy had. */
async function ours(mebibytes) {
  return inFolder(async (folder) => {
    const connection = await Connection.open(proxied(folder));
    const { time } = await reduced(connection, 1, mebibytes * MIB);
    const { peak } = connection;
    await connection.close();
    return { time, peak };
  });
}

/**
 * Both in turn, over one connection each, as hosts keep them. The first call of each is told apart: engines compile what is
 * hot only once it is. `most` is the share of the plain time that ours may take.
 */
export async function compareBytes(mebibytes, rounds, most) {
  return inFolder(async (folder) => {
    const [direct, through] = [await Connection.open(DIRECT), await Connection.open(proxied(folder))];
    const times = [];
    for (let id = 1; id <= rounds + 1; id += 1) {
      // Other bytes each time: what is stored already would not be written again.
      const bytes = mebibytes * MIB - 3 * id;
      await collected();
      const one = await plain(direct, id, bytes);
      await collected();
      const other = await reduced(through, id, bytes);
      if (!other.answer.includes(one.hash.slice(0, 12))) throw new Error("The proxy stored something else.");
      times.push({ plain: one.time, ours: other.time });
    }
    await Promise.all([direct.close(), through.close()]);
    return verdict(times, most);
  });
}

/**
 * Lets what is left of the round before get in nobody's way: the client's garbage, which threads beside give back, and what the disk has
 * not written yet.
 */
async function collected() {
  globalThis.gc?.();
  if (process.platform !== "win32") execFileSync("sync");
  await sleep(200);
}

const shareOf = ({ ours: through, plain: direct }) => through / direct;

function verdict([first, ...times], most) {
  const share = median(times.map(shareOf));
  const [ourTime, plainTime] = [median(times.map((each) => each.ours)), median(times.map((each) => each.plain))];
  return {
    seen: `${share.toFixed(2)} × the plain way (${ourTime.toFixed(0)} ms against ${plainTime.toFixed(0)} ms), at first ${shareOf(first).toFixed(2)} ×`,
    bar: `≤ ${most} ×`,
    met: share <= most,
    share,
    first,
    times,
  };
}

/**
 * So much through a new proxy, and the same line of a new server read directly and thrown away, in turn. No string of JavaScript holds
 * 1 GiB in base64, so that there is no plain way.
 */
export async function comparePipe(mebibytes, rounds) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const direct = await Connection.open(DIRECT);
    const pipe = await piped(direct, 1, mebibytes * MIB);
    await direct.close();
    times.push({ pipe, ours: (await ours(mebibytes)).time });
  }
  const ratio = median(times.map(({ pipe, ours: time }) => time / pipe));
  const of = (way) => (median(times.map((each) => each[way])) / 1000).toFixed(2);
  return {
    seen: `${ratio.toFixed(2)} × the bare pipe (${of("ours")} s against ${of("pipe")} s)`,
    bar: `≤ ${PIPES} ×`,
    met: ratio <= PIPES,
    ratio,
    times,
  };
}

/** Time in ms to read the answer and throw it away. */
export async function piped(connection, id, bytes) {
  const start = performance.now();
  await connection.bytes(id, bytes, { isKept: false });
  return performance.now() - start;
}

/** The SDK's own transport with its cap raised, against the proxy. */
export async function compareSdk(version, mebibytes) {
  const sdk = await apart("stdio", version, mebibytes);
  const { time } = await ours(mebibytes);
  const ratio = sdk.time / time;
  return {
    seen: `${ratio.toFixed(0)} × faster (${time.toFixed(0)} ms against ${(sdk.time / 1000).toFixed(1)} s, ${sdk.peak.toFixed(0)} MB)`,
    bar: `≥ ${FASTER} ×`,
    met: ratio >= FASTER,
    ratio,
    sdk,
  };
}

/** Memory of the proxy while so much goes through it. */
export async function memory(mebibytes) {
  const { peak, time } = await ours(mebibytes);
  const met = peak <= PEAK;
  return { seen: `${peak.toFixed(0)} MB, ${(time / 1000).toFixed(2)} s`, bar: `≤ ${PEAK} MB`, met, peak };
}

/** Calls of a connection, as many as a busy host makes, and those of them that find the proxy still cold. */
const CALLS = 3000;
const COLD = 500;

async function smallCalls(command) {
  const connection = await Connection.open(command);
  const times = [];
  for (let id = 1; id <= CALLS; id += 1) {
    const start = performance.now();
    await connection.request(id, "tools/call", { name: "small" });
    times.push(performance.now() - start);
  }
  await connection.close();
  return { all: median(times), cold: median(times.slice(0, COLD)) };
}

/** What a call of 1 KB takes longer through the proxy; the first ones, while the engine compiles, are told apart. */
export async function smallCall(rounds) {
  const added = [];
  for (let round = 0; round < rounds; round += 1) {
    const direct = await smallCalls(DIRECT);
    const through = await inFolder((folder) => smallCalls(proxied(folder)));
    added.push({ all: through.all - direct.all, cold: through.cold - direct.cold });
  }
  const [all, cold] = [median(added.map((one) => one.all)), median(added.map((one) => one.cold))];
  const seen = `+${all.toFixed(2)} ms (the first ${COLD} +${cold.toFixed(2)} ms)`;
  return { seen, bar: `≤ ${ADDED} ms`, met: all <= ADDED, added };
}

/** So many calls at once: each is answered, in the order of the server's answers. */
export async function inFlight(calls) {
  return inFolder(async (folder) => {
    const connection = await Connection.open(proxied(folder));
    const ids = Array.from({ length: calls }, (_, index) => index + 1);
    const lines = await Promise.all(ids.map((id) => connection.request(id, "tools/call", { name: "small" })));
    await connection.close();
    const answered = lines.map((line) => JSON.parse(Buffer.concat(line).toString()).id);
    const met = answered.every((id, index) => id === ids[index]);
    return { seen: met ? "all answered, in order" : "not in order", bar: "none lost, in order", met };
  });
}

/**
 * From the start of a process until it has answered `initialize`: the proxy with the server behind it, and the server alone, in turn.
 * The difference is a second node, which is measured beside them, and the proxy itself.
 */
export async function ownStart(rounds) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const node = timedNode();
    const direct = await opened(DIRECT);
    const through = await inFolder((folder) => opened(proxied(folder)));
    times.push({ node, direct, through });
  }
  const more = median(times.map(({ through, direct }) => through - direct));
  const own = median(times.map(({ through, direct, node }) => through - direct - node));
  return {
    seen: `${own.toFixed(0)} ms over node alone: ${more.toFixed(0)} ms more than the server alone, less ${(more - own).toFixed(0)} for a node`,
    bar: `≤ ${START} ms`,
    met: own <= START,
    times,
  };
}

async function opened(command) {
  const start = performance.now();
  const connection = await Connection.open(command);
  const time = performance.now() - start;
  await connection.close();
  return time;
}

function timedNode() {
  const start = performance.now();
  execFileSync(process.execPath, ["-e", "0"]);
  return performance.now() - start;
}
