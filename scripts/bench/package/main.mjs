/**
 * `npm run bench:package`: what `npx -y mcp-sluice proxy` costs before the first message, beside a registry on this machine.
 * `--quick` runs fewer rounds.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { root } from "../../run.mjs";
import { BUDGETS, kilo } from "../../size.mjs";
import { inFolder, median, report } from "../measure.mjs";
import { installed, npm, startRegistry } from "./registry.mjs";

const SERVER = [process.execPath, fileURLToPath(new URL("../proxy/server.mjs", import.meta.url))];

/** Packages, ours among them. */
const PACKAGES = 16;

/** Seconds from an empty cache. */
const COLD = 3;

/** Seconds that a warm start may take longer than the server alone. */
const WARM = 0.5;

const quick = process.argv.includes("--quick");
const rounds = quick ? 3 : 9;

/** Packs the checkout as it is built, and with it whatever an installation brings. */
async function packed(folder) {
  const [{ filename }] = JSON.parse(
    await npm(["pack", "--ignore-scripts", "--json", "--pack-destination", folder], root),
  );
  const ours = join(folder, filename);
  const home = join(folder, "home");
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), '{"private":true}');
  await npm(["install", ours], home);
  const manifests = installed(home);
  const others = manifests.filter(({ name }) => name !== "mcp-sluice");
  const from = join(folder, "others");
  mkdirSync(from);
  const made = JSON.parse(
    await npm(
      ["pack", "--json", "--pack-destination", from, ...others.map(({ name, version }) => `${name}@${version}`)],
      from,
    ),
  );
  const tarballOf = new Map(made.map(({ id, filename: file }) => [id, readFileSync(join(from, file))]));
  return {
    size: statSync(ours).size,
    files: filesIn(join(home, "node_modules")),
    packages: manifests.map((manifest) => ({
      manifest,
      tarball: tarballOf.get(`${manifest.name}@${manifest.version}`) ?? readFileSync(ours),
    })),
  };
}

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;

/** Seconds from starting a command until it has answered `initialize`. */
async function answered([command, ...args], cwd, env = {}) {
  const start = performance.now();
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const exited = once(child, "exit");
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  const answer = once(createInterface({ input: child.stdout }), "line");
  const ended = exited.then(() => {
    throw new Error(`${command} ${args.join(" ")} gave no answer: ${said}`);
  });
  await Promise.race([answer, ended]);
  const time = (performance.now() - start) / 1000;
  child.stdin.end();
  ended.catch(() => {});
  await exited;
  return time;
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } },
};

/** `npx -y mcp-sluice proxy` in front of a server. */
const PROXIED = ["npx", "-y", "mcp-sluice", "proxy", "--store", "session", "--", ...SERVER];

/** Each round from an empty cache. */
async function cold(url) {
  const times = [];
  for (let round = 0; round < (quick ? 1 : 5); round += 1) {
    await inFolder(async (folder) => times.push(await answered(PROXIED, folder, npmOf(url, folder))));
  }
  const time = median(times);
  return { seen: `${time.toFixed(1)} s`, bar: `≤ ${COLD} s`, met: time <= COLD, times };
}

/** In turn: the server alone, npx with a package that only starts the server, and npx with ours. */
async function warm(url) {
  return inFolder(async (folder) => {
    const env = npmOf(url, folder);
    const launched = ["npx", "-y", "bench-launcher", ...SERVER];
    for (const command of [PROXIED, launched]) await answered(command, folder, env);
    const times = [];
    for (let round = 0; round < rounds; round += 1) {
      const bare = await answered(SERVER, folder);
      const npx = await answered(launched, folder, env);
      const ours = await answered(PROXIED, folder, env);
      times.push({ bare, npx, ours, sluice: await answered(await direct(folder), folder) });
    }
    const more = (which, than) => median(times.map((time) => time[which] - time[than]));
    const added = more("ours", "bare");
    const parts = `${more("npx", "bare").toFixed(2)} of it npx, ${more("sluice", "bare").toFixed(2)} the proxy without npx`;
    return { seen: `${added.toFixed(2)} s more (${parts})`, bar: `≤ ${WARM} s`, met: added <= WARM, times };
  });
}

/** The command as npx installed it, without npx. */
async function direct(folder) {
  const [home] = readdirSync(join(folder, "cache/_npx")).filter((name) =>
    readdirSync(join(folder, "cache/_npx", name, "node_modules")).includes("mcp-sluice"),
  );
  const main = join(folder, "cache/_npx", home, "node_modules/mcp-sluice/dist/cli/main.js");
  return [process.execPath, main, ...PROXIED.slice(PROXIED.indexOf("proxy"))];
}

/** npm of its own: an empty cache, the registry of the bench, nobody's settings. */
const npmOf = (url, folder) => ({
  npm_config_registry: url,
  npm_config_cache: join(folder, "cache"),
  npm_config_userconfig: join(folder, "npmrc"),
  npm_config_globalconfig: join(folder, "global-npmrc"),
  npm_config_update_notifier: "false",
  npm_config_audit: "false",
  npm_config_fund: "false",
});

/** A package whose command starts the command that it is given: what npx costs by itself. */
async function launcher(folder) {
  const home = join(folder, "launcher");
  mkdirSync(home);
  const manifest = { name: "bench-launcher", version: "1.0.0", bin: "main.mjs" };
  writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
  writeFileSync(
    join(home, "main.mjs"),
    '#!/usr/bin/env node\nimport { spawn } from "node:child_process";\nspawn(process.argv[2], process.argv.slice(3), { stdio: "inherit" });\n',
  );
  const [{ filename }] = JSON.parse(await npm(["pack", "--json"], home));
  return {
    manifest: { ...manifest, bin: { "bench-launcher": "main.mjs" } },
    tarball: readFileSync(join(home, filename)),
  };
}

await inFolder(async (folder) => {
  const { size, files, packages } = await packed(folder);
  const registry = await startRegistry([...packages, await launcher(folder)]);
  const bytes = packages.reduce((sum, { tarball }) => sum + tarball.length, 0);
  try {
    await report("bench-package.json", rounds, [
      {
        work: "the tarball",
        measure: () => ({ seen: kilo(size), bar: `≤ ${kilo(BUDGETS.tarball)}`, met: size <= BUDGETS.tarball, size }),
      },
      {
        work: "packages of an installation, ours among them",
        measure: () => ({
          seen: `${packages.length}: ${kilo(bytes)} as tarballs, ${files} files`,
          bar: `≤ ${PACKAGES}`,
          met: packages.length <= PACKAGES,
          names: packages.map(({ manifest }) => `${manifest.name}@${manifest.version}`).toSorted(),
        }),
      },
      { work: "npx -y mcp-sluice proxy, from an empty cache", measure: () => cold(registry.url) },
      { work: "npx -y mcp-sluice proxy, again", measure: () => warm(registry.url) },
    ]);
  } finally {
    registry.close();
  }
});
