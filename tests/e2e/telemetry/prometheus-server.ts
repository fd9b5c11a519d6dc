/**
 * A real Prometheus that scrapes what it is told to, for as long as a test takes.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../unit/redis/redis-server.js";

/** What a query found. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What is scraped: a job's name, its address, and the token that it takes. */
export interface Target {
  readonly job: string;
  /** HOST:PORT. */
  readonly address: string;
  readonly token?: string;
}

/** A running Prometheus. */
export class TestPrometheus implements AsyncDisposable {
  readonly #url: string;
  readonly #end: () => Promise<void>;

  private constructor(url: string, end: () => Promise<void>) {
    this.#url = url;
    this.#end = end;
  }

  /** Scrapes these each second. Throws where it does not run. */
  static async started(targets: readonly Target[]): Promise<TestPrometheus> {
    const folder = await mkdtemp(join(tmpdir(), "sluice-prometheus-"));
    const file = join(folder, "prometheus.yml");
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ scrape_configs: targets.map((target) => jobOf(target)) }));
    const port = await freePort();
    const child = spawn(
      "prometheus",
      [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${port}`],
      { stdio: "ignore" },
    );
    const ended = once(child, "exit");
    const end = async (): Promise<void> => {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    };
    const url = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < 100; tries += 1) {
      const isReady = await fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady) return new TestPrometheus(url, end);
      await sleep(200);
    }
    await end();
    throw new Error("Prometheus is not ready after 20 s");
  }

  /** What a query finds now. */
  async query(expression: string): Promise<readonly Sample[]> {
    const response = await fetch(`${this.#url}/api/v1/query?query=${encodeURIComponent(expression)}`);
    const { status, error, data } = (await response.json()) as {
      status: string;
      error?: string;
      data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    if (status !== "success") throw new Error(`${expression}: ${error}`);
    return (data?.result ?? []).map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  /** Waits until a query finds something. */
  async found(expression: string): Promise<readonly Sample[]> {
    for (let tries = 0; tries < 60; tries += 1) {
      const samples = await this.query(expression);
      if (samples.length > 0) return samples;
      await sleep(250);
    }
    throw new Error(`nothing after 15 s: ${expression}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

function jobOf({ job, address, token }: Target): object {
  return {
    job_name: job,
    scrape_interval: "1s",
    scrape_timeout: "1s",
    static_configs: [{ targets: [address] }],
    ...(token !== undefined && { authorization: { credentials: token } }),
  };
}
