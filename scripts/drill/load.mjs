/**
 * The users, in a process of their own: `node load.mjs PORT`. Its parent tells it what to do, and is told what came of it.
 * @module
 */
import { writeFileSync } from "node:fs";
import { bytesOf, Client } from "./client.mjs";
import { sha256 } from "./content.mjs";
import { Session } from "./session.mjs";

const client = new Client(Number(process.argv[2]));

/** What is counted, what did not hold, and what was told that is no fault by itself. */
const findings = {
  counts: {},
  wrongs: {},
  tolds: {},
  count(what) {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  },
  wrong(what, where = "") {
    const found = (this.wrongs[what] ??= { count: 0, phase: client.phase, where });
    found.count += 1;
  },
  told(what, phase) {
    const key = `${what} | ${phase}`;
    this.tolds[key] = (this.tolds[key] ?? 0) + 1;
  },
};

/** Reads bytes without keeping them all. */
const hashIn = async (response) => ({ hash: sha256(await bytesOf(response)) });

/** One large download, compared. */
async function readLarge({ said, hash }) {
  const { body } = await client.ask("large download", said, hashIn);
  findings.count("large downloads");
  if (body?.hash !== hash) findings.wrong("a large download has other bytes");
}

/** Large downloads of one session at the same time. */
const OF_SESSION = 48;

let numbers = 0;
const day = { isStopped: true };
let workers = [];
let before;

/** All that a user does in a session of some seconds. It has twenty artifacts, of which tools made most. */
async function live(number) {
  const every = (share, at = 0) => number % share === at;
  const session = await new Session(client, findings, number).begin({ listens: every(4) });
  await session.upload();
  await session.call("draw", every(10) ? 7 : 9);
  if (every(10)) await session.chat();
  if (every(2)) await session.download();
  if (every(5, 1)) await session.resume();
  await session.call("draw", 8);
  if (every(10, 5)) await session.call("table", 1500);
  if (every(10, 6)) await session.call("report", 900);
  await session.upload();
  if (every(5, 2)) await session.delete();
  if (every(5, 3)) await session.upload();
  if (every(20) && before !== undefined) await session.attack(before);
  before = session;
  await session.end();
}

async function work() {
  while (!day.isStopped) {
    try {
      await live(++numbers);
    } catch (error) {
      findings.wrong(`a session broke off: ${error.message}`);
    }
  }
}

let residents = [];
let filling;

async function endResidents() {
  for (let session = residents.pop(); session !== undefined; session = residents.pop()) await session.end();
}

const ORDERS = {
  phase({ name }) {
    client.phase = name;
  },
  start({ atOnce }) {
    client.renew();
    day.isStopped = false;
    workers = Array.from({ length: atOnce }, work);
  },
  /** Ends when every session that has begun has ended. */
  async stop() {
    day.isStopped = true;
    await Promise.all(workers);
    client.renew();
  },
  counts: () => findings.counts,
  /** Sessions that stay, whatever happens, and do a little all the time. */
  async settle({ count }) {
    residents = await Promise.all(
      Array.from({ length: count }, async () => {
        const session = await new Session(client, findings, ++numbers).begin({ listens: true });
        for (const pictures of [8, 6]) await session.call("draw", pictures);
        for (let at = 0; at < 4; at += 1) await session.upload();
        return session;
      }),
    );
  },
  async visit() {
    await Promise.all(
      residents.map(async (session) => {
        await session.upload();
        await session.download();
        await session.verify();
      }),
    );
  },
  /** Compares every byte that they have, and ends them, so many at once. */
  async leave({ atOnce }) {
    for (const session of residents) for (const entry of session.ledger.values()) await session.download(entry);
    await Promise.all(Array.from({ length: atOnce }, endResidents));
    client.renew();
  },
  /** Downloads of larger files, all at once: as many in each session as one may have. */
  async downloads({ count, bytes }) {
    const asked = [];
    const sessions = [];
    while (asked.length < count) {
      const session = await new Session(client, findings, ++numbers).begin({ listens: false });
      const { id, sha256: hash } = await session.upload(bytes);
      const said = { path: `/artifacts/${id}`, token: session.token, isLong: true };
      for (let at = 0; at < OF_SESSION && asked.length < count; at += 1) asked.push({ said, hash });
      sessions.push(session);
    }
    await Promise.all(asked.map(readLarge));
    await Promise.all(sessions.map((session) => session.end()));
  },
  /** Stores until nothing is taken any more, and looks at what is there. */
  async fill() {
    filling ??= await new Session(client, findings, ++numbers).begin({ listens: false });
    const refusals = [];
    let stored = 0;
    // Smaller and smaller, until nothing fits.
    for (const size of [300_000, 30_000, 3000, 300]) {
      for (let refused = 0; refused < 5;) {
        const answer = await filling.tryUpload(size);
        if (answer === null) {
          stored += 1;
          continue;
        }
        refused += 1;
        refusals.push(answer);
      }
    }
    const { artifacts = [], status } = await filling.tryCall(8);
    const untold = artifacts.filter(({ source }) => source.truncated === true && source.warning !== undefined).length;
    const result = `${status}, ${artifacts.length} artifacts, of which ${untold} were not stored and say why`;
    const isTold = status === 200 && artifacts.length === 8 && untold > 0;
    return { stored, refusals: [...new Set(refusals)], result, isTold, ...(await filling.intact()) };
  },
  /** The same once there is room again. */
  async unfill() {
    const asked = 20;
    let stored = 0;
    for (let at = 0; at < asked; at += 1) if ((await filling.tryUpload(100_000)) === null) stored += 1;
    return { asked, stored, ...(await filling.intact()) };
  },
  report({ file }) {
    const { counts, wrongs, tolds } = findings;
    writeFileSync(file, JSON.stringify({ counts, wrongs, tolds, attempts: client.attempts }));
    client.attempts = [];
    Object.assign(findings, { counts: {}, wrongs: {}, tolds: {} });
  },
};

async function obey({ id, order, said }) {
  try {
    process.send({ id, value: await ORDERS[order](said) });
  } catch (error) {
    process.send({ id, failed: error.stack });
  }
}

process.on("message", (message) => void obey(message));
process.once("disconnect", () => process.exit());
process.send("ready");
