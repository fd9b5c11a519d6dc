/**
 * What a client does with a server: sessions, artifacts, tools. Each throws where the answer is another.
 * @module
 */
import { strict as assert } from "node:assert";
import { randomBytes } from "node:crypto";

const JSON_TYPE = { "content-type": "application/json" };

/** Milliseconds until an answer has to be there. */
const PATIENCE = 30_000;

/** A session. */
export class Session {
  #headers;

  /** Begins one at a server. `url` ends without `/`. */
  static async begun(url, token) {
    const answer = await ask(`${url}/sessions`, {
      method: "POST",
      headers: { ...JSON_TYPE, authorization: `Bearer ${token}` },
      body: '{"token": true}',
    });
    assert.equal(answer.status, 201, `POST sessions: ${await answer.clone().text()}`);
    const session = new Session();
    session.#headers = { authorization: `Bearer ${(await answer.json()).token}` };
    return session;
  }

  ask(url, init = {}) {
    return ask(url, { ...init, headers: { ...this.#headers, ...init.headers } });
  }

  /** Stores random bytes; gives them, and the artifact's id. */
  async upload(url, size) {
    const bytes = randomBytes(size);
    const answer = await this.ask(`${url}/artifacts?filename=some.bin`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: bytes,
    });
    assert.equal(answer.status, 201, `POST artifacts: ${await answer.clone().text()}`);
    return { bytes, id: (await answer.json()).artifact.id };
  }

  /** Reads all of an artifact, and some bytes of its middle by a range. */
  async download(url, { id, bytes }) {
    const whole = await this.ask(`${url}/artifacts/${id}`);
    assert.equal(whole.status, 200);
    assert.ok(bytes.equals(Buffer.from(await whole.arrayBuffer())), "what comes out is what went in");
    const [first, last] = [1000, 1999];
    const part = await this.ask(`${url}/artifacts/${id}`, { headers: { range: `bytes=${first}-${last}` } });
    assert.equal(part.status, 206);
    assert.ok(
      bytes.subarray(first, last + 1).equals(Buffer.from(await part.arrayBuffer())),
      "the range is that of the bytes",
    );
  }

  /** Calls a tool; gives what a model sees of its result. */
  async call(url, tool, args) {
    const answer = await this.ask(`${url}/tools/${tool}`, {
      method: "POST",
      headers: { ...JSON_TYPE, accept: "application/json" },
      body: JSON.stringify({ args }),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, `POST tools/${tool}: ${text}`);
    return JSON.parse(text);
  }

  /** Calls tools of the reference server: a short text stays, and a picture becomes an artifact. */
  async callEverything(url) {
    const said = await this.call(url, "everything.echo", { message: "through the container" });
    assert.match(said.observation, /through the container/);
    const shown = await this.call(url, "everything.get-tiny-image", {});
    assert.equal(shown.artifacts.length, 1, "a picture is stored");
    const picture = await this.ask(`${url}/artifacts/${shown.artifacts[0].id}`);
    assert.equal(picture.status, 200);
    assert.equal(picture.headers.get("content-type"), "image/png");
    assert.equal(
      Buffer.from(await picture.arrayBuffer())
        .subarray(1, 4)
        .toString(),
      "PNG",
    );
  }
}

/** The metrics of a process, which wants the token. */
export async function metricsOf(url, token) {
  const refused = await ask(url);
  assert.ok([401, 404].includes(refused.status), "metrics are for those who have the token");
  const answer = await ask(url, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  return answer.text();
}

/** Waits until a page is there; gives the answer. */
export async function answered(url, { seconds = 30, want = 200 } = {}) {
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask(url).catch((error) => error);
    if (answer.status === want) return answer;
    if (Date.now() > until) throw new Error(`${url}: ${answer.status ?? answer.cause?.message ?? answer.message}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const ask = (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE) });
