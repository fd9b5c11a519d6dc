/**
 * Takes the steps of a Containerfile in a folder: a bare Debian that debootstrap makes, with the Node that the file names.
 * @module
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { findOnPath } from "../on-path.mjs";
import { must } from "../run.mjs";

/** Seconds for a step that fetches packages. */
const LONG = 400;

/**
 * Builds the last stage.
 * @param {import("./containerfile.mjs").Stage[]} stages
 * @param {object} options
 * @param {string} options.context the folder that is built from
 * @param {string} [options.ignore] text of the file that says what of it is left out
 * @param {string} options.folder where stages are made, each in a folder of its own
 * @param {string} options.cache where bare systems are kept between runs
 * @param {(line: string) => void} options.say
 * @returns {Promise<{ root: string, config: import("./containerfile.mjs").ImageConfig, env: Record<string, string>, workdir: string }>}
 */
export async function buildImage(stages, { context, ignore = "", folder, cache, say }) {
  const built = new Map();
  let last;
  for (const [index, stage] of stages.entries()) {
    const root = join(folder, stage.name ?? `stage-${index}`);
    await copyTree(built.get(stage.base)?.root ?? (await bareSystem(stage.base, cache)), root);
    const state = { env: {}, args: {}, workdir: "/" };
    for (const step of stage.steps) {
      if (step.kind === "run") say(`RUN ${step.command.length > 90 ? `${step.command.slice(0, 90)}…` : step.command}`);
      await TAKERS[step.kind](step, { root, state, built, context, ignore });
    }
    last = { root, config: stage.config, env: state.env, workdir: state.workdir };
    if (stage.name !== undefined) built.set(stage.name, last);
  }
  return last;
}

const TAKERS = {
  arg: ({ name, value }, { state }) => (state.args[name] = value),
  env: ({ name, value }, { state }) => (state.env[name] = value),
  workdir({ path }, { root, state }) {
    mkdirSync(join(root, path), { recursive: true });
    state.workdir = path;
  },
  async copy({ from, source, target }, { root, built, context, ignore }) {
    const to = join(root, target);
    if (from !== undefined) return copyTree(join(built.get(from).root, source), to);
    if (source !== ".") throw new Error(`COPY ${source}: only all of the context is copied here`);
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(context).filter(kept(ignore))) cpSync(join(context, name), join(to, name));
  },
  run: ({ command }, { root, state }) => runWithin(root, command, { ...state.args, ...state.env }, state.workdir),
};

/** What a file of ignored names keeps, of those in a folder: the last pattern that fits says. */
export function kept(ignore) {
  const rules = ignore
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const patterns = rules.map((rule) => ({
    keeps: rule.startsWith("!"),
    form: new RegExp(
      `^${rule
        .replace(/^!/, "")
        .replaceAll(/[.+^$()|[\]{}\\]/g, "\\$&")
        .replaceAll("*", ".*")}$`,
    ),
  }));
  return (name) => patterns.findLast(({ form }) => form.test(name))?.keeps ?? true;
}

async function copyTree(from, to) {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(dirname(to), { recursive: true });
  await must("cp", ["-a", "--reflink=auto", from, to], { show: "failure" });
}

/** Runs a line in a root that has this machine's network, and its settings of npm, for so long. */
async function runWithin(root, command, env, workdir) {
  const borrowed = mkdtempSync(join(dirname(root), "borrowed-"));
  const settings = borrowSettings(borrowed);
  const script = [
    `mount --bind "$ROOT" "$ROOT"`,
    `mount -t proc proc "$ROOT/proc"`,
    `mount --rbind /dev "$ROOT/dev"`,
    `mount -t tmpfs tmpfs "$ROOT/mnt"`,
    `mkdir "$ROOT/mnt/settings" "$ROOT/mnt/cache"`,
    `mount --bind "$SETTINGS" "$ROOT/mnt/settings"`,
    ...(settings.cache ? [`mount --bind "$CACHE" "$ROOT/mnt/cache"`] : []),
    ...["hosts", "resolv.conf"].map(
      (name) => `touch "$ROOT/etc/${name}"; mount --bind "/etc/${name}" "$ROOT/etc/${name}"`,
    ),
    `exec chroot "$ROOT" /usr/bin/env -i -C "$WORKDIR" "$@"`,
  ].join("\n");
  const values = Object.entries({ ...SHELL, ...settings.env, ...env }).map(([name, value]) => `${name}=${value}`);
  const words = ["sh", ...values, "/bin/sh", "-ec", command];
  const unshared = [
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--propagation",
    "private",
    "sh",
    "-ec",
    script,
    ...words,
  ];
  await must("unshare", unshared, {
    show: "failure",
    seconds: LONG,
    env: { ROOT: root, SETTINGS: borrowed, CACHE: settings.cache ?? "", WORKDIR: workdir },
  });
  rmSync(borrowed, { recursive: true });
}

const SHELL = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", LANG: "C.UTF-8" };

const ask = (key) => execFileSync("npm", ["config", "get", key], { encoding: "utf8" }).trim();

/** Settings that npm has here, and certificates that it trusts, as files and variables of a step. Nothing of them stays in the root. */
function borrowSettings(folder) {
  const env = {
    npm_config_registry: ask("registry"),
    npm_config_prefer_offline: "true",
    npm_config_cache: "/mnt/cache",
  };
  const file = (name, path) => {
    if (!existsSync(path)) return undefined;
    cpSync(realpathSync(path), join(folder, name));
    return `/mnt/settings/${name}`;
  };
  const user = file("npmrc", ask("userconfig"));
  if (user !== undefined) env.npm_config_userconfig = user;
  const cafile = ask("cafile");
  const certificates = file("ca.pem", cafile === "null" ? (process.env.NODE_EXTRA_CA_CERTS ?? "") : cafile);
  if (certificates !== undefined)
    Object.assign(env, { npm_config_cafile: certificates, NODE_EXTRA_CA_CERTS: certificates });
  for (const name of ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"]) {
    if (process.env[name] !== undefined) env[name] = process.env[name];
  }
  const cache = ask("cache");
  return { env, cache: existsSync(cache) ? cache : undefined };
}

/** `node:VERSION-SUITE-slim` as a folder: what debootstrap makes of the suite, with that Node and an npm. Kept between runs. */
async function bareSystem(image, cache) {
  const said = /^(?:docker\.io\/library\/)?node:(\d+\.\d+\.\d+)-([a-z]+)-slim$/.exec(image);
  if (said === null) throw new Error(`${image} is no node:VERSION-SUITE-slim, which alone can be made here`);
  const [, version, suite] = said;
  const root = join(cache, `node-${version}-${suite}`);
  if (existsSync(root)) return root;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, "unfinished-"));
  chmodSync(unfinished, 0o755);
  await must("debootstrap", ["--variant=minbase", suite, unfinished], { show: "failure", seconds: LONG });
  rmSync(join(unfinished, "var/cache/apt/archives"), { recursive: true, force: true });
  await addNode(unfinished, version);
  await runWithin(unfinished, "groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node", {}, "/");
  renameSync(unfinished, root);
  return root;
}

/** As the official image has it. npm brings the program, and is itself the one of this machine. */
async function addNode(root, version) {
  const local = join(root, "usr/local");
  const fetched = mkdtempSync(join(root, "..", "node-"));
  writeFileSync(join(fetched, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  await must("npm", ["install", "--prefix", fetched, "--no-audit", "--no-fund", `node@${version}`], {
    show: "failure",
    seconds: LONG,
  });
  cpSync(realpathSync(join(fetched, "node_modules/node/bin/node")), join(local, "bin/node"));
  rmSync(fetched, { recursive: true });
  const npm = resolve(realpathSync(findOnPath("npm")), "../..");
  if (basename(npm) !== "npm") throw new Error("the npm of this machine is no package of its own");
  mkdirSync(join(local, "lib/node_modules"), { recursive: true });
  await copyTree(npm, join(local, "lib/node_modules/npm"));
  for (const name of ["npm", "npx"])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, "bin", name));
}

/** Bytes of a folder, in a root. */
export function sizeOf(folder) {
  return Number(execFileSync("du", ["-s", "--block-size=1", folder], { encoding: "utf8" }).split("\t")[0]);
}

/** The version that a package in a root says it has. */
export const versionIn = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
