/**
 * One of the processes: `sluice serve` as it is built.
 * @module
 */
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../run.mjs";
import { freePort, Program, sleep, until } from "./program.mjs";

export const SECRET = "a secret of the drill, which is longer than it has to be";
const METRICS_TOKEN = "the token of the drill's metrics";
export const FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";

/** Nobody is turned away for asking much: users here are programs. All else is as it comes. */
const LIMITS = { requests_per_minute: 1_000_000, sessions_per_minute: 1_000_000 };

/** A place where a process is, time after time. */
export class Server {
  #deps;

  /**
   * @param deps `folder` for what it writes, `store`, `state` if it is shared, `outside` as the port of sources and model, `env`
   */
  constructor(name, deps, port) {
    this.name = name;
    this.#deps = deps;
    this.port = port;
    this.watched = join(deps.folder, `${name}.watch`);
    this.clock = join(deps.folder, `${name}.clock`);
    writeFileSync(this.watched, "");
    writeFileSync(this.clock, "+0");
  }

  static async started(name, deps) {
    const server = new Server(name, deps, await freePort());
    await server.start();
    return server;
  }

  /** Starts a process, and waits until it is ready. With `fakesTime`, its clock is what `setClock` says. */
  async start({ fakesTime = false } = {}) {
    const { folder, store, state, outside, env = {}, retention = {} } = this.#deps;
    const config = {
      listen: `127.0.0.1:${this.port}`,
      sources: [{ name: "lab", transport: "mcp", connection: `http://127.0.0.1:${outside}/mcp` }],
      model: { url: `http://127.0.0.1:${outside}/v1`, name: "scripted" },
      store,
      ...(state !== undefined && { state }),
      retention,
      limits: LIMITS,
      auth: { header: { user: "x-drill-user" } },
      files: false,
    };
    const file = join(folder, `${this.name}.json`);
    writeFileSync(file, JSON.stringify(config));
    const watch = new URL("watch.mjs", import.meta.url).href;
    const clock = fakesTime && {
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: this.clock,
      FAKETIME_CACHE_DURATION: "1",
      DONT_FAKE_MONOTONIC: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
    const log = openSync(join(folder, `${this.name}.log`), "a");
    this.program = await Program.started(
      [process.execPath, "--import", watch, join(root, "dist/cli/main.js"), "serve", "--config", file],
      {
        log,
        env: {
          SLUICE_SERVE_SECRET: SECRET,
          SLUICE_METRICS_TOKEN: METRICS_TOKEN,
          DRILL_WATCH: this.watched,
          ...env,
          ...clock,
        },
      },
    );
    await until(`${this.name}`, 60, () => this.isReady());
  }

  async isReady() {
    return (await fetch(`http://127.0.0.1:${this.port}/ready`, { signal: AbortSignal.timeout(3000) })).ok;
  }

  /** Seconds by which its clock is ahead. */
  async setClock(seconds) {
    writeFileSync(this.clock, `${seconds < 0 ? "" : "+"}${seconds}`);
    await sleep(1500);
  }

  /** What it wrote down of itself, oldest first. */
  get history() {
    return readFileSync(this.watched, "utf8")
      .split("\n")
      .filter((line) => line.endsWith("}"))
      .map((line) => JSON.parse(line));
  }

  /** What it wrote to its log. */
  get log() {
    return readFileSync(join(this.#deps.folder, `${this.name}.log`), "utf8");
  }

  /** A number of its metrics, summed over all series. */
  async metric(name) {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const text = await (await fetch(`http://127.0.0.1:${this.port}/metrics`, { headers })).text();
    const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  async [Symbol.asyncDispose]() {
    await this.program?.kill();
  }
}
