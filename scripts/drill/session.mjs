/**
 * One session: what its user does from its beginning to its end, and a ledger of everything that was acknowledged.
 * @module
 */
import { bytesOf, eventsOf, now } from "./client.mjs";
import { picture, pictures, sha256 } from "./content.mjs";
import { sleep } from "./program.mjs";

const JSON_TYPE = { "content-type": "application/json" };

/** Seconds that an event may be on its way. */
const EVENT_SECONDS = 20;

/** Bytes of uploads, by their turn: mostly small, a few large. */
const SIZES = [400, 9_000, 1_800, 60_000, 300, 4_000, 700_000, 2_500, 120_000, 900];

export class Session {
  #client;
  #findings;
  #number;
  #next = 0;
  /** What is stored by what was acknowledged, by trace and id. */
  ledger = new Map();
  /** Ids of artifacts of which an event has to be told, with when they were acknowledged. */
  #untold = new Map();
  #told = new Set();
  #lastEvent;
  #isLost = false;
  #isOver = false;
  #listening;
  #stopListening = () => undefined;

  /** @param findings where it is written down what does not hold, and what is counted */
  constructor(client, findings, number) {
    this.#client = client;
    this.#findings = findings;
    this.#number = number;
    this.user = `user-${number % 997}`;
  }

  async begin({ listens }) {
    const headers = { ...JSON_TYPE, "x-drill-user": this.user };
    const said = { method: "POST", path: "/sessions", headers, body: '{"token":true}' };
    const { status, body } = await this.#client.ask("begin", said);
    if (status !== 201) throw new Error(`no session: ${status} ${body}`);
    const { id, token } = JSON.parse(body);
    [this.id, this.token] = [id, token];
    this.#findings.count("sessions");
    if (listens) this.#listening = this.#listen();
    return this;
  }

  /** A number that no other session has. */
  #unique() {
    return this.#number * 1000 + this.#next++;
  }

  #note(ref, known) {
    const { id, sha256: hash, size_bytes, trace = null } = ref;
    this.ledger.set(`${trace ?? ""} ${id}`, { id, trace, sha256: hash, size: size_bytes, ...known });
    if (this.#listening !== undefined) this.#untold.set(id, { at: now(), phase: this.#client.phase });
    this.#findings.count("artifacts");
  }

  /** Stores bytes, and knows them. */
  async upload(size = SIZES[(this.#number + this.#next) % SIZES.length]) {
    const number = this.#unique();
    const body = picture(number, size);
    const path = `/artifacts?filename=${number}.png`;
    const said = { method: "POST", path, token: this.token, headers: { "content-type": "image/png" }, body };
    const answer = await this.#client.ask("upload", said);
    if (answer.status !== 201) return this.#refused("upload", answer);
    const { artifact } = JSON.parse(answer.body);
    const expected = sha256(body);
    if (artifact.sha256 !== expected || artifact.size_bytes !== size)
      this.#findings.wrong("an upload was acknowledged as something else");
    this.#note(artifact, { number, made: size });
    return artifact;
  }

  /** Calls a tool, whose result has so many artifacts. */
  async call(tool, count) {
    const number = this.#unique();
    const body = JSON.stringify({ args: { number, count } });
    const headers = { ...JSON_TYPE, accept: "application/json" };
    const said = { method: "POST", path: `/tools/lab.${tool}`, token: this.token, headers, body };
    const answer = await this.#client.ask("call", said);
    if (answer.status !== 200) return this.#refused("call", answer);
    const { artifacts, is_error: isError, observation } = JSON.parse(answer.body);
    if (isError) return this.#findings.told("a result that is an error", this.#client.phase);
    if (observation.length > 60_000) this.#findings.wrong("an observation has bytes in it");
    this.#keep(artifacts, tool === "draw" ? pictures(number, count) : null);
    return artifacts;
  }

  /** What a result has. `expected` are the bytes of its artifacts, if they are known. */
  #keep(artifacts, expected) {
    const kept = artifacts.filter(({ source }) => source.truncated !== true);
    for (let at = kept.length; at < artifacts.length; at += 1)
      this.#findings.told("a result without one of its artifacts, which says so", this.#client.phase);
    const known = expected && new Map(expected.map((bytes) => [sha256(bytes), bytes]));
    for (const ref of kept) {
      if (known !== null && known?.has(ref.sha256) !== true)
        this.#findings.wrong("a result has bytes that nobody sent");
      this.#note(ref, {});
    }
  }

  /** Asks the model, which calls a tool. The run is followed to its end wherever it goes on. */
  async chat() {
    const number = this.#unique();
    const body = JSON.stringify({ query: `Draw ${number}, please.` });
    const run = new Run();
    const read = (response) => followed(run, response);
    const said = { method: "POST", path: "/chat", token: this.token, headers: JSON_TYPE, body, isLong: true };
    const isWanted = () => run.id === undefined;
    const first = await this.#client.ask("chat", { ...said, isWanted }, read);
    if (run.id === undefined) return this.#refused("chat", first);
    while (run.ends.length === 0) {
      const headers = run.after === undefined ? {} : { "last-event-id": run.after };
      const path = `/chat/${run.id}`;
      const answer = await this.#client.ask("follow", { path, token: this.token, headers, isLong: true }, read);
      if (answer.status >= 400) return this.#refused("follow", answer);
    }
    this.#findings.count("runs");
    const log = new Run();
    const asked = { path: `/chat/${run.id}`, token: this.token, isLong: true };
    await this.#client.ask("follow", asked, (response) => followed(log, response));
    if (log.ends.length !== 1) this.#findings.wrong(`a run has ${log.ends.length} ends`);
    const [end] = log.ends;
    if (end?.kind !== "result")
      return this.#findings.told(`a run that failed: ${end?.error?.code}`, this.#client.phase);
    if (!end.answer.includes(String(number))) this.#findings.wrong("a run has the answer of another");
    // Its artifacts, which a step that was done again tells of again.
    const known = new Map(pictures(number, 2).map((bytes) => [sha256(bytes), bytes]));
    for (const ref of new Map(log.artifacts.map((each) => [each.id, each])).values()) {
      if (ref.source.truncated === true) {
        this.#findings.told("a result without one of its artifacts, which says so", this.#client.phase);
        continue;
      }
      if (!known.has(ref.sha256)) this.#findings.wrong("a run has bytes that nobody sent");
      this.#note(ref, {});
      this.#untold.delete(ref.id);
    }
    return end;
  }

  /** One attempt to store so many bytes: null, or how it was refused. */
  async tryUpload(size) {
    const body = picture(this.#unique(), size);
    const answer = await this.#client.once("upload", { method: "POST", path: "/artifacts", token: this.token, body });
    if (answer.status !== 201) return `${answer.status} ${answer.code}`;
    this.#note(JSON.parse(answer.body).artifact, {});
    return null;
  }

  /** One attempt to call a tool: what came of it. */
  async tryCall(count) {
    const headers = { ...JSON_TYPE, accept: "application/json" };
    const body = JSON.stringify({ args: { number: this.#unique(), count } });
    const said = { method: "POST", path: "/tools/lab.draw", token: this.token, headers, body };
    const { status, body: text } = await this.#client.once("call", said);
    if (status !== 200) return { status };
    const { artifacts } = JSON.parse(text);
    for (const ref of artifacts) if (ref.source.truncated !== true) this.#note(ref, {});
    return { status, artifacts };
  }

  /** How many of those in the ledger are there, byte for byte. */
  async intact() {
    let intact = 0;
    for (const entry of this.ledger.values()) {
      const { status, body } = await this.#client.once("download", { path: pathOf(entry), token: this.token }, bytesOf);
      if (status === 200 && sha256(body) === entry.sha256) intact += 1;
    }
    return { kept: this.ledger.size, intact };
  }

  /** Some artifact that is there. */
  #any() {
    const all = [...this.ledger.values()];
    return all[(this.#number * 31 + this.#next++) % all.length];
  }

  /** Reads one whole, and compares it. */
  async download(entry = this.#any()) {
    if (entry === undefined) return;
    const answer = await this.#client.ask("download", { path: pathOf(entry), token: this.token }, bytesOf);
    if (answer.status !== 200) return this.#gone(entry, answer);
    if (sha256(answer.body) !== entry.sha256) this.#findings.wrong("a download has other bytes");
    this.#findings.count("compared");
  }

  /** Breaks off in the middle, and asks for the rest, which has to be that of the same bytes. */
  async resume(entry = this.#any()) {
    if (entry === undefined || entry.size < 2) return;
    const half = Math.floor(entry.size / 2);
    const path = pathOf(entry);
    const first = { path, token: this.token, headers: { range: `bytes=0-${half - 1}` } };
    const head = await this.#client.ask("range", first, bytesOf);
    if (head.status !== 206) return this.#gone(entry, head);
    const headers = { range: `bytes=${half}-`, "if-range": head.headers.etag };
    const rest = await this.#client.ask("range", { path, token: this.token, headers }, bytesOf);
    if (rest.status !== 206) return this.#gone(entry, rest);
    if (sha256(Buffer.concat([head.body, rest.body])) !== entry.sha256) this.#findings.wrong("two ranges are no whole");
    this.#findings.count("compared");
  }

  async delete(entry = this.#any()) {
    if (entry === undefined) return;
    const key = `${entry.trace ?? ""} ${entry.id}`;
    const answer = await this.#client.ask("delete", { method: "DELETE", path: pathOf(entry), token: this.token });
    // 404 and 410: an attempt before this one did it, without its answer having come.
    if (![204, 404, 410].includes(answer.status)) return this.#refused("delete", answer);
    this.ledger.delete(key);
    this.#findings.count("deleted");
    const after = await this.#client.ask("deleted", { path: pathOf(entry), token: this.token }, bytesOf);
    if (after.status !== 404 && after.status !== 410) this.#findings.wrong("what was deleted is there");
  }

  /** Tries to get at what another has. Everything has to be refused like what never was. */
  async attack(other) {
    const [entry] = other.ledger.values();
    if (entry === undefined || other.user === undefined) return;
    for (const method of ["GET", "DELETE"]) {
      const answer = await this.#client.ask("attack", { method, path: pathOf(entry), token: this.token });
      // The same content in another session has the same id, and is its own.
      if (answer.status !== 404 && !this.ledger.has(`${entry.trace ?? ""} ${entry.id}`))
        this.#findings.wrong(`another's artifact: ${answer.status}`);
    }
    const ended = await this.#client.ask("attack", {
      method: "DELETE",
      path: `/sessions/${other.id}`,
      token: this.token,
    });
    if (ended.status !== 404) this.#findings.wrong(`another's session: ${ended.status}`);
    const forged = `${other.token.slice(0, -4)}AAAA`;
    const refused = await this.#client.ask("attack", { path: "/artifacts", token: forged });
    if (refused.status !== 401) this.#findings.wrong(`a forged token: ${refused.status}`);
    this.#findings.count("attacks");
  }

  /** Compares the whole ledger with what the server lists: every line of it, and nothing else. */
  async verify() {
    const listed = new Map();
    let after = "";
    do {
      const path = `/artifacts?trace=*&limit=100${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`;
      const answer = await this.#client.ask("list", { path, token: this.token });
      if (answer.status !== 200) return this.#refused("list", answer);
      const { artifacts, next = "" } = JSON.parse(answer.body);
      for (const each of artifacts) listed.set(`${each.trace ?? ""} ${each.id}`, each);
      after = next;
    } while (after !== "");
    for (const [key, { sha256: hash, size }] of this.ledger) {
      const found = listed.get(key);
      if (found === undefined) this.#findings.wrong("what was acknowledged is not listed", `${this.id} ${key}`);
      else if (found.sha256 !== hash || found.size_bytes !== size)
        this.#findings.wrong("what is listed is something else");
      else this.#findings.count("verified");
      listed.delete(key);
    }
    // An attempt without an answer may have stored it all the same, and its repetition something else: not lost, but counted.
    for (const [, each] of listed)
      this.#findings.told(`listed without having been acknowledged: ${each.namespace}`, this.#client.phase);
    return undefined;
  }

  /** Waits for the events of what was acknowledged. */
  async #hear() {
    const last = now() + EVENT_SECONDS * 1000;
    const missing = () => [...this.#untold].filter(([id]) => !this.#told.has(id));
    while (missing().length > 0 && !this.#isLost && now() < last) await sleep(100);
    for (const [, { phase }] of this.#isLost ? [] : missing())
      this.#findings.told("acknowledged, and no event of it came", phase);
  }

  /** Follows the events of the session, and comes back to them where they break off. */
  async #listen() {
    let before = "0-0";
    while (!this.#isOver) {
      const headers = this.#lastEvent === undefined ? {} : { "last-event-id": this.#lastEvent };
      const read = async (response) => {
        this.#stopListening = () => response.destroy();
        for await (const { id, kind, artifact } of eventsOf(response)) {
          if (kind === "events_lost") this.#isLost = true;
          if (id === undefined) continue;
          if (!isBefore(before, id) && kind !== "events_lost")
            this.#findings.wrong("events are out of order, or told twice");
          [before, this.#lastEvent] = [id, id];
          if (artifact !== undefined) this.#told.add(artifact.id);
          this.#findings.count("events");
          if (kind === "session_ended") this.#isOver = true;
        }
        return {};
      };
      const answer = await this.#client.once(
        "listen",
        { path: "/events", token: this.token, headers, isLong: true },
        read,
      );
      if (answer.status === 401) return;
      await sleep(answer.status === 200 ? 50 : 500);
    }
  }

  /** Verifies, and ends. */
  async end() {
    await this.verify();
    if (this.#listening !== undefined) await this.#hear();
    this.#isOver = true;
    const answer = await this.#client.ask("end", { method: "DELETE", path: "/sessions/current", token: this.token });
    // 401: an attempt before this one ended it.
    if (answer.status !== 200 && answer.status !== 401) this.#refused("end", answer);
    this.#stopListening();
    await this.#listening;
    this.#findings.count("ended");
  }

  #gone(entry, answer) {
    this.#findings.wrong(`what was acknowledged is ${answer.status} ${answer.code}`, `${this.id} ${entry.id}`);
  }

  #refused(what, { status, code }) {
    this.#findings.wrong(`${what} was refused for good: ${status} ${code}`);
  }
}

const pathOf = ({ id, trace }) => `/artifacts/${id}${trace === null ? "" : `?trace=${encodeURIComponent(trace)}`}`;

function isBefore(left, right) {
  const [[one, two], [three, four]] = [left, right].map((id) => id.split("-").map(BigInt));
  return one < three || (one === three && two < four);
}

/** What is known of a run. */
class Run {
  /** @type {string | undefined} */
  id;
  /** @type {string | undefined} */
  after;
  /** @type {any[]} */
  ends = [];
  /** @type {any[]} */
  artifacts = [];
}

const ENDS = new Set(["result", "failed", "pause"]);

/** Reads a run's events into what is known of it. A stream that ends without the run's end has broken off. */
async function followed(run, response) {
  for await (const event of eventsOf(response)) {
    if (event.id !== undefined) run.after = event.id;
    if (event.kind === "run_started") run.id = event.run;
    if (event.kind === "artifact_stored") run.artifacts.push(...event.artifacts);
    if (ENDS.has(event.kind)) run.ends.push(event);
  }
  if (run.ends.length === 0) throw Object.assign(new Error("broken off"), { code: "broken off" });
  return {};
}
