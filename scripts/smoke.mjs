/**
 * `npm run smoke`: packs the packages, takes the steps of `deploy/Containerfile` in a bare Debian root, and starts what comes of it as
 * `deploy/compose.yaml` says, without a container engine. Needs root, on Debian. Nothing stays behind but bare systems, in `build/smoke`.
 * @module
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { findOnPath } from "./on-path.mjs";
import { pack, PACKED } from "./pack.mjs";
import { root } from "./run.mjs";
import { main, setup } from "./setup.mjs";
import { buildSite } from "./site.mjs";

/** Seconds that all of it may take; then everything is ended. */
const LONGEST = 900;

/** Bare systems, and the folder of a run. */
const PLACE = join(root, "build/smoke");

/** The folder in the root of the server of tools, and its program there. */
const TOOLS = "/opt/tools";
const EVERYTHING = `${TOOLS}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`;

/** Makes what needs the network, and then goes on in namespaces that nothing leads out of. */
async function outside() {
  const why = impossible();
  if (why !== undefined) {
    console.log(`smoke: not run: ${why}`);
    return 1;
  }
  await setup("smoke");
  await build();
  await buildSite();
  await pack();
  mkdirSync(PLACE, { recursive: true });
  // What a run left that was killed.
  for (const name of readdirSync(PLACE).filter((each) => /^(?:run|unfinished)-/.test(each))) {
    rmSync(join(PLACE, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(PLACE, "run-"));
  try {
    return await namespaced(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function impossible() {
  if (process.platform !== "linux" || findOnPath("apt-get") === undefined) return "it needs Debian.";
  if (process.getuid() !== 0) return "it makes a root and namespaces, so it needs to be root.";
  return undefined;
}

async function namespaced(folder) {
  const { images, seconds } = await imagesIn(folder);
  console.log(`smoke: images made in ${seconds} s`);
  const words = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
  const env = { ...process.env, SLUICE_SMOKE_FOLDER: folder, SLUICE_SMOKE_IMAGES: JSON.stringify(images) };
  const child = spawn("unshare", [...words, process.execPath, process.argv[1]], { stdio: "inherit", env });
  // With it end all that it started.
  const stop = () => child.kill("SIGKILL");
  const limit = setTimeout(stop, LONGEST * 1000);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
  const [code] = await once(child, "exit");
  clearTimeout(limit);
  if (code === null) console.log(`smoke: stopped; it may take ${LONGEST} s`);
  return code ?? 1;
}

const text = (name) => readFileSync(join(root, "deploy", name), "utf8");

/** The images of the composition that we build: ours, and that of the server of tools. */
async function imagesIn(folder) {
  const begun = performance.now();
  const { buildImage, sizeOf } = await import("./smoke/image.mjs");
  const { readContainerfile } = await import("./smoke/containerfile.mjs");
  const { readComposition } = await import("./smoke/composition.mjs");
  const options = { cache: PLACE, say: (line) => console.log(`smoke: ${line}`) };
  const sluice = await buildImage(readContainerfile(text("Containerfile")), {
    ...options,
    context: PACKED,
    ignore: text("Containerfile.dockerignore"),
    folder: join(folder, "sluice"),
  });
  const size = (path) => `${(sizeOf(join(sluice.root, path)) / 1e6).toFixed(0)} MB`;
  console.log(
    `smoke: the image has ${size("/")}, of it ${size("opt/sluice")} are ours and ${size("usr/local/bin")} Node`,
  );
  const { tools } = readComposition(text("compose.yaml")).services;
  const inline = readContainerfile(tools.build.dockerfile_inline);
  const server = await buildImage(inline, { ...options, context: join(root, "deploy"), folder: join(folder, "tools") });
  return { images: { sluice, tools: server }, seconds: Math.round((performance.now() - begun) / 1000) };
}

/** In namespaces of its own: the first process there, with which all others end. */
async function within(folder) {
  const { makeBeginning } = await import("./smoke/network.mjs");
  const { readComposition } = await import("./smoke/composition.mjs");
  const { smokeSingle } = await import("./smoke/single.mjs");
  const { smokeTogether } = await import("./smoke/together.mjs");
  // Also where nobody is left who would end it.
  setTimeout(() => process.exit(1), LONGEST * 1000).unref();
  makeBeginning();
  const images = JSON.parse(process.env.SLUICE_SMOKE_IMAGES);
  const deploy = join(folder, "deploy");
  cpSync(join(root, "deploy"), deploy, { recursive: true });
  execFileSync("sh", [join(deploy, "make-secrets.sh")], { stdio: "ignore" });
  const steps = new Steps();
  const step = (title, work) => steps.take(title, work);
  const server = { root: images.tools.root, folder: join(images.tools.root, TOOLS), path: EVERYTHING };
  await steps.all(async () => {
    await step("the systemd unit is well-formed, and exposes little", () => judgeUnit(deploy, images.sluice.root));
    await smokeSingle({ image: images.sluice, server, secrets: join(deploy, "secrets"), folder, step });
    const composition = readComposition(readFileSync(join(deploy, "compose.yaml"), "utf8"));
    await smokeTogether({ composition, images, deploy, folder, step });
  });
  // What is still running is not waited for: it ends with this process.
  process.exit(steps.failed === 0 ? 0 : 1);
}

/** Highest exposure that `systemd-analyze security` may tell, of 10. */
const EXPOSED = 1.5;

const analyze = (...args) =>
  execFileSync("systemd-analyze", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** What systemd itself says of the unit, in a root that has what it names. */
async function judgeUnit(deploy, sluice) {
  if (findOnPath("systemd-analyze") === undefined) return [undefined, "skipped: there is no systemd-analyze"];
  const unit = join(deploy, "sluice.service");
  const words = readFileSync(unit, "utf8")
    .match(/^ExecStart=(.*)$/m)[1]
    .split(" ");
  for (const path of words.filter((word) => word.startsWith("/opt/"))) readFileSync(join(sluice, path));
  analyze("verify", "--man=no", unit);
  const security = analyze("security", "--offline=true", "--no-pager", `--threshold=${EXPOSED * 10}`, unit);
  const exposure = /exposure level for [^:]*: ([\d.]+)/.exec(security)[1];
  return [undefined, `exposure ${exposure} of 10`];
}

/** Says what was done, one line each. */
class Steps {
  passed = 0;
  failed = 0;
  #begun = performance.now();

  /** Takes one; `work` gives what it found and what to say of it. */
  async take(title, work) {
    const begun = performance.now();
    const [found, note] = (await work()) ?? [];
    this.passed += 1;
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(`ok: ${title}${note === undefined ? "" : `: ${note}`} (${seconds} s)`);
    return found;
  }

  /** All of them, until one fails: those behind it need what it did. */
  async all(work) {
    try {
      await work();
    } catch (error) {
      this.failed += 1;
      console.log(`FAILED: ${error.stack}`);
    }
    const seconds = Math.round((performance.now() - this.#begun) / 1000);
    console.log(`\nsmoke: ${this.passed} passed, ${this.failed} failed (${seconds} s)`);
  }
}

await main(() => (process.env.SLUICE_SMOKE_FOLDER === undefined ? outside() : within(process.env.SLUICE_SMOKE_FOLDER)));
