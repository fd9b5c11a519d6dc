/**
 * Starts the services of `deploy/compose.yaml`: those of our image as containers of it, the others as the programs that Debian has of
 * them, each in a network of its own and with the words and files that the composition gives it.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parse } from "yaml";
import { startCeph } from "../ceph.mjs";
import { Container, inNetwork } from "./container.mjs";
import { makeNetwork, publish } from "./network.mjs";

/** The services, with anchors and merges followed. */
export const readComposition = (text) => parse(text, { merge: true });

/** Lines of each that are told where a step fails. */
const LAST = 12;

const last = (text) => text.trim().split("\n").slice(-LAST).join("\n");

/** A composition that is running. */
export class Composition {
  #composition;
  #deps;
  #files;
  /** @type {Map<string, Container>} */
  containers = new Map();

  /**
   * @param {object} composition
   * @param {{ deploy: string, folder: string, images: Record<string, object> }} deps `deploy`: the folder of the file, with its secrets
   */
  constructor(composition, deps) {
    this.#composition = composition;
    this.#deps = deps;
    this.#files = makeNetwork(Object.keys(this.#services), deps.folder);
    mkdirSync("/run/secrets");
  }

  get #services() {
    return this.#composition.services;
  }

  /** What all of them said last. */
  get said() {
    return Object.keys(this.#services)
      .map((name) => {
        const log = join(this.#deps.folder, `${name}.log`);
        const text = this.containers.get(name)?.said ?? (existsSync(log) ? readFileSync(log, "utf8") : "");
        return text === "" ? "" : `── ${name}\n${last(text)}\n`;
      })
      .join("");
  }

  /** Starts a service of one of our images. */
  async start(name) {
    const service = this.#services[name];
    const binds = [
      ...this.#files,
      ...(service.volumes ?? []).map((volume) => this.#bindOf(volume)),
      ...(service.secrets ?? []).map((secret) => ({ from: this.#secret(secret), to: `/run/secrets/${secret}` })),
    ];
    for (const wanted of ["read_only", "cap_drop", "security_opt"]) {
      if (service[wanted] === undefined) throw new Error(`${name} has no ${wanted}`);
    }
    const container = await Container.started(this.#deps.images[service.image ?? name], {
      name: service.hostname ?? name,
      network: name,
      binds,
      ...(service.environment && { env: service.environment }),
      ...(service.entrypoint && { entrypoint: service.entrypoint }),
      ...(service.command && { command: service.command }),
    });
    this.containers.set(name, container);
    return container;
  }

  /** Redis, of Debian. The image's own configuration takes connections from everywhere. */
  async startRedis() {
    const data = this.#made("redis");
    const [program, ...words] = this.#services.redis.command;
    this.#serve("redis", program, [...words, "--dir", data, "--bind", "0.0.0.0", "--protected-mode", "no"]);
    await reached("redis", 6379);
  }

  /** Ceph stands for the S3 service, at its port and with its keys. */
  async startS3() {
    const port = /-s3\.port=(\d+)/.exec(this.#services.s3.command.join(" "))?.[1];
    const { identities } = JSON.parse(readFileSync(this.#secret("s3_identities"), "utf8"));
    const [{ accessKey, secretKey }] = identities[0].credentials;
    await startCeph(this.#made("s3"), {
      monitor: 3300,
      gateway: `0.0.0.0:${port}`,
      credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
      run: async (program, args) => {
        const child = this.#serve("s3", program, args);
        const [code] = await once(child, "close");
        if (code !== 0) throw new Error(`${program} ended with ${code}`);
      },
      serve: async (program, args) => void this.#serve("s3", program, args),
    });
    await reached("s3", Number(port));
  }

  /** HAProxy, of Debian, with the balancer's own configuration. */
  async startBalancer() {
    const { from } = this.#bindOf(this.#services.balancer.volumes[0]);
    this.#serve("balancer", "haproxy", ["-db", "-f", from]);
    await this.#published("balancer");
  }

  /** Prometheus, of Debian, with its own configuration. */
  async startPrometheus() {
    const { volumes, secrets } = this.#services.prometheus;
    for (const secret of secrets) await this.#place(secret);
    const { from } = this.#bindOf(volumes[0]);
    const data = this.#made("prometheus");
    this.#serve("prometheus", "prometheus", [`--config.file=${from}`, `--storage.tsdb.path=${data}`]);
    await this.#published("prometheus");
  }

  async #published(name) {
    const [, , inner] = this.#services[name].ports[0].split(":");
    await reached(name, Number(inner));
    await publish(name, Number(inner));
  }

  /** A secret where programs that are in no container look for it. */
  async #place(secret) {
    const child = spawn("cp", [this.#secret(secret), `/run/secrets/${secret}`]);
    await once(child, "close");
  }

  #secret(name) {
    return resolve(this.#deps.deploy, this.#composition.secrets[name].file);
  }

  #bindOf(volume) {
    const [from, to, mode] = volume.split(":");
    if (!from.startsWith(".") || mode !== "ro") throw new Error(`${volume} is no file that is only read`);
    return { from: resolve(this.#deps.deploy, from), to };
  }

  #made(name) {
    const folder = join(this.#deps.folder, name);
    mkdirSync(folder);
    return folder;
  }

  // They end with this process, which is the first of their processes' namespace.
  #serve(name, program, args) {
    const [first, ...words] = [...inNetwork(name), program, ...args];
    const log = openSync(join(this.#deps.folder, `${name}.log`), "a");
    const child = spawn(first, words, { stdio: ["ignore", log, log] });
    closeSync(log);
    return child;
  }
}

async function reached(host, port) {
  for (let tries = 0; tries < 300; tries += 1) {
    const socket = createConnection({ host, port });
    const isThere = await Promise.race([
      once(socket, "connect").then(
        () => true,
        () => false,
      ),
      sleep(1000, false),
    ]);
    socket.destroy();
    if (isThere) return;
    await sleep(100);
  }
  throw new Error(`nothing answers at ${host}:${port}`);
}
