/**
 * Runs an image as a container engine would: process 1 of its own namespaces, on a file system that cannot be written to, as the user
 * that the image says, without any capability.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Lines that are kept of what a process says. */
const KEPT = 200;

const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"];

/**
 * @typedef {object} ContainerOptions
 * @property {string} name also the host's name within
 * @property {Record<string, string>} [env]
 * @property {string[]} [entrypoint] instead of the image's
 * @property {string[]} [command] instead of the image's
 * @property {{ from: string, to: string, writable?: boolean }[]} [binds]
 * @property {string} [network] the name of a network namespace
 */

/** A running container. */
export class Container {
  #image;
  #options;
  #process;
  #ended;
  #said = [];
  pid = 0;

  /**
   * Starts one.
   * @param {Awaited<ReturnType<typeof import("./image.mjs").buildImage>>} image
   * @param {ContainerOptions} options
   */
  static async started(image, options) {
    const container = new Container();
    container.#image = image;
    container.#options = options;
    for (const { from, to } of options.binds ?? []) makePlace(join(image.root, to), from);
    const { entrypoint = image.config.entrypoint, command = image.config.command ?? [] } = options;
    const words = [...inNetwork(options.network), "unshare", ...NAMESPACES, "sh", "-ec", setUp(image, options), "sh"];
    const [program, ...args] = [...words, ...container.#asUser([...entrypoint, ...command])];
    container.#process = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    container.#ended = once(container.#process, "close");
    for (const stream of [container.#process.stdout, container.#process.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => container.#said.push(text) > KEPT && container.#said.shift());
    }
    container.pid = await childOf(container.#process);
    return container;
  }

  /** What it wrote. */
  get said() {
    return this.#said.join("");
  }

  get isRunning() {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Runs a command within, as its user; gives the exit code and what it wrote. */
  async run(command) {
    const { root } = this.#image;
    const target = ["--target", String(this.pid), "--mount", "--uts", "--ipc", "--net", "--pid"];
    const child = spawn("nsenter", [...target, "chroot", root, ...this.#asUser(command)], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (output += text));
    const [code] = await once(child, "close");
    return { code, output };
  }

  /** Waits until its health check passes, as long as the image says. Gives the milliseconds. */
  async healthy() {
    const { seconds, interval, tries, command } = this.#image.config.health;
    const begun = performance.now();
    const until = begun + (seconds + interval * tries) * 1000;
    for (;;) {
      if (!this.isRunning) throw new Error(`${this.#options.name} ended: ${this.said}`);
      const { code, output } = await this.run(command);
      if (code === 0) return Math.round(performance.now() - begun);
      if (performance.now() > until) throw new Error(`${this.#options.name} is not healthy: ${output}\n${this.said}`);
      await sleep(200);
    }
  }

  /** What the kernel says of process 1. */
  status() {
    const text = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Object.fromEntries(text.split("\n").map((line) => line.split(/:\s*/)));
  }

  /** Sends the signal that the image says, and waits. Gives the exit code and the milliseconds; -1 where it had to be killed. */
  async stop(seconds) {
    const begun = performance.now();
    this.signal(this.#image.config.stopSignal);
    const late = setTimeout(() => this.signal("SIGKILL"), seconds * 1000);
    const [code] = await this.#ended;
    clearTimeout(late);
    return { code: code ?? -1, milliseconds: Math.round(performance.now() - begun) };
  }

  /** Waits until it ends by itself; gives the exit code. */
  async end() {
    const [code] = await this.#ended;
    return code;
  }

  /** Kills it, and waits until it is gone. */
  async kill() {
    this.signal("SIGKILL");
    await this.#ended;
  }

  signal(name) {
    if (this.isRunning) process.kill(this.pid, name);
  }

  /** The words that become another user, for good, and then something else. */
  #asUser(command) {
    const { config, env, workdir } = this.#image;
    const [uid, gid] = config.user.split(":");
    const values = { PATH, HOME: workdir, HOSTNAME: this.#options.name, ...env, ...this.#options.env };
    const rights = ["--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];
    const variables = Object.entries(values).map(([name, value]) => `${name}=${value}`);
    return [
      "/usr/bin/setpriv",
      `--reuid=${uid}`,
      `--regid=${gid}`,
      ...rights,
      "/usr/bin/env",
      "-i",
      "-C",
      workdir,
      ...variables,
      ...command,
    ];
  }
}

const NAMESPACES = ["--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--propagation", "private"];

export const inNetwork = (name) => (name === undefined ? [] : ["nsenter", `--net=/run/netns/${name}`]);

/** The script that makes the root what the process sees. */
function setUp({ root }, { name, binds = [] }) {
  const at = (path) => quoted(join(root, path));
  return [
    `echo ${quoted(name)} > /proc/sys/kernel/hostname`,
    `mount --bind ${at("/")} ${at("/")}`,
    `mount -t proc -o nosuid,nodev,noexec proc ${at("/proc")}`,
    `mount -t tmpfs -o nosuid,mode=755 dev ${at("/dev")}`,
    ...DEVICES.map((each) => `touch ${at(`/dev/${each}`)}; mount --bind /dev/${each} ${at(`/dev/${each}`)}`),
    `ln -s /proc/self/fd ${at("/dev/fd")}`,
    `mount -t tmpfs -o nosuid,nodev,mode=1777 tmp ${at("/tmp")}`,
    ...binds.flatMap(({ from, to, writable }) => [
      `mount --bind ${quoted(from)} ${at(to)}`,
      ...(writable ? [] : [`mount -o remount,bind,ro ${at(to)}`]),
    ]),
    `mount -o remount,bind,ro ${at("/")}`,
    `exec chroot ${at("/")} "$@"`,
  ].join("\n");
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** A place to mount at, as engines make it in the image. */
function makePlace(place, from) {
  if (existsSync(place)) return;
  if (!existsSync(from)) throw new Error(`${from} is not there to be mounted`);
  mkdirSync(dirname(place), { recursive: true });
  if (statSync(from).isDirectory()) mkdirSync(place);
  else writeFileSync(place, "");
}

/** The process that `unshare` started in the new namespaces. */
async function childOf({ pid }) {
  for (let tries = 0; tries < 200; tries += 1) {
    const path = `/proc/${pid}/task/${pid}/children`;
    const [child] = existsSync(path) ? readFileSync(path, "utf8").trim().split(" ") : [""];
    if (child !== "") return Number(child);
    await sleep(20);
  }
  throw new Error("the container has no process");
}
