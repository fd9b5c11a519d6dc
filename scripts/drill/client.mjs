/**
 * Clients: requests that are made again as clients do it, with everything written down that came of each attempt.
 * @module
 */
import { Agent, request } from "node:http";
import { sleep } from "./program.mjs";

/** Milliseconds of one clock that all processes of the machine have in common. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Seconds for which a request is made again. */
const PATIENCE = 90;

/** Milliseconds of silence after which an attempt is given up. */
const SILENCE = 45_000;

/** What is worth another attempt: the answer says that it may be otherwise in a moment. */
const isPassing = ({ status }) => status === 0 || status === 429 || status >= 500;

/** Milliseconds between two attempts: the first soon, since another process may answer. */
const pause = (attempt) => Math.min(2000, 50 * 2 ** attempt);

const agentOf = () => new Agent({ keepAlive: true, maxSockets: 128, timeout: 20_000 });

export class Client {
  #port;
  #agent = agentOf();
  /** For what stays open. */
  #listening = new Agent({ keepAlive: false, maxSockets: Infinity });
  /** Every attempt: operation, phases in which it began and ended, when it began, milliseconds, status, code. */
  attempts = [];
  phase = "";

  constructor(port) {
    this.#port = port;
  }

  /** The answer to a request that is made until it is answered. `read` is given the response; what it throws is an attempt that failed. */
  async ask(operation, said, read = textOf) {
    const last = now() + PATIENCE * 1000;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.once(operation, said, read);
      if (!isPassing(answer) || (said.isWanted ?? (() => true))(answer) === false) return answer;
      if (now() > last) {
        this.attempts.push({
          operation,
          phase: this.phase,
          until: this.phase,
          at: now(),
          ms: 0,
          status: 0,
          code: "given up",
        });
        throw new Error(`${operation} was given up: ${answer.status} ${answer.code}`);
      }
      await sleep(pause(attempt));
    }
  }

  /** One attempt, written down. Never throws: without an answer its status is 0. */
  async once(operation, said, read = textOf) {
    const [phase, at] = [this.phase, now()];
    const answer = await this.#attempt(said, read);
    const { status, code } = answer;
    this.attempts.push({ operation, phase, until: this.phase, at, ms: now() - at, status, code });
    return answer;
  }

  #attempt({ method = "GET", path, token, headers = {}, body, isLong = false }, read) {
    return new Promise((resolve) => {
      const failed = (error) => resolve({ status: 0, code: codeOf(error), body: null, headers: {} });
      const all = { ...headers, ...(token && { authorization: `Bearer ${token}` }) };
      if (body !== undefined) all["content-length"] = String(Buffer.byteLength(body));
      const agent = isLong ? this.#listening : this.#agent;
      const asked = request({ host: "127.0.0.1", port: this.#port, path, method, headers: all, agent }, (response) => {
        const { statusCode: status = 0 } = response;
        if (status >= 400) {
          return textOf(response).then(
            (text) => resolve({ status, code: codeIn(text), body: text, headers: response.headers }),
            failed,
          );
        }
        return read(response).then(
          (found) => resolve({ status, code: "", body: found, headers: response.headers }),
          failed,
        );
      });
      asked.setTimeout(SILENCE, () => asked.destroy(Object.assign(new Error("silent"), { code: "silent" })));
      asked.once("error", failed);
      asked.end(body);
    });
  }

  /** Has new connections for what comes: those that it has are all at the process that is there longest. */
  renew() {
    const before = this.#agent;
    this.#agent = agentOf();
    before.destroy();
  }
}

const codeOf = (error) => `no answer (${error.code ?? error.message})`;

/** The code of a refusal. Empty if it has none, which is a fault. */
function codeIn(text) {
  try {
    return JSON.parse(text).error.code ?? "";
  } catch {
    return "";
  }
}

export async function textOf(response) {
  let text = "";
  for await (const piece of response.setEncoding("utf8")) text += piece;
  return text;
}

export async function bytesOf(response) {
  const pieces = [];
  for await (const piece of response) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  const length = response.headers["content-length"];
  // What breaks off is no whole.
  if (!response.complete || (length !== undefined && Number(length) !== bytes.length))
    throw Object.assign(new Error("broken off"), { code: "broken off" });
  return bytes;
}

/** The events of a stream, each as `{ id, kind, … }`. */
export async function* eventsOf(response) {
  let text = "";
  for await (const piece of response.setEncoding("utf8")) {
    text += piece;
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      /** @type {Record<string, string | undefined>} */
      const fields = Object.fromEntries(
        frame
          .split("\n")
          .filter((line) => !line.startsWith(":") && line.includes(": "))
          .map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]),
      );
      if (fields.data !== undefined) yield { ...JSON.parse(fields.data), id: fields.id };
    }
  }
}
