/**
 * One container of the image, as `docker run --read-only --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp` starts it.
 * @module
 */
import { strict as assert } from "node:assert";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { metricsOf, Session } from "./client.mjs";
import { Container } from "./container.mjs";

/** Bytes of the file that is stored. */
const SIZE = 5_000_000;

/** Seconds that the process has to end. */
const GRACE = 45;

/** Runs it, and looks at it from within and from outside. `server`: a folder with a server of tools that is a program. */
export async function smokeSingle({ image, server, secrets, folder, step }) {
  const container = await step("a container starts, and its health check passes", async () => {
    const started = await Container.started(image, options({ image, server, secrets, folder }));
    return [started, `${await started.healthy()} ms`];
  });
  await step("it has no capability, is not root, and cannot write but to /tmp and /data", () =>
    looksHarmless(container),
  );
  await step("it has no package manager", () => hasNoNpm(container));
  await step("sessions, artifacts and ranges, tools of a program, metrics, the playground", async () => {
    const [token, metrics] = ["serve_token", "metrics_token"].map((name) => readFileSync(join(secrets, name), "utf8"));
    const url = "http://127.0.0.1:4751";
    const session = await Session.begun(url, token);
    await session.download(url, await session.upload(url, SIZE));
    await session.callEverything(url);
    assert.match(await metricsOf(`${url}/metrics`, metrics), /^process_uptime_seconds \d/m);
    assert.match(await (await fetch(url)).text(), /name="sluice-server"/);
  });
  await step("SIGTERM to process 1 ends it within its grace", async () => {
    const { code, milliseconds } = await container.stop(GRACE);
    assert.ok([0, 143].includes(code), `exit code ${code}: ${container.said}`);
    return [undefined, `exit code ${code}, ${milliseconds} ms`];
  });
}

function options({ image, server, secrets, folder }) {
  const config = join(folder, "single.json");
  const connection = `node ${server.path}`;
  writeFileSync(config, JSON.stringify({ sources: [{ name: "everything", transport: "mcp", connection }] }));
  const data = join(folder, "data");
  mkdirSync(data);
  chownSync(data, ...image.config.user.split(":").map(Number));
  const secret = (name) => ({ from: join(secrets, name), to: `/run/secrets/${name}` });
  return {
    name: "sluice",
    command: [...image.config.command, "--config", "/etc/sluice/serve.json"],
    env: {
      SLUICE_SERVE_TOKEN_FILE: "/run/secrets/serve_token",
      SLUICE_METRICS_TOKEN_FILE: "/run/secrets/metrics_token",
    },
    binds: [
      { from: data, to: "/data", writable: true },
      { from: config, to: "/etc/sluice/serve.json" },
      { from: server.folder, to: server.folder.slice(server.root.length) },
      secret("serve_token"),
      secret("metrics_token"),
    ],
  };
}

async function looksHarmless(container) {
  const status = container.status();
  assert.deepEqual(
    [status.CapInh, status.CapPrm, status.CapEff, status.CapBnd, status.CapAmb].map(Number),
    [0, 0, 0, 0, 0],
  );
  assert.equal(status.NoNewPrivs, "1");
  assert.deepEqual(
    [status.Uid, status.Gid].map((ids) => ids.split("\t")),
    [Array(4).fill("10001"), Array(4).fill("10001")],
  );
  const write = (path) => container.run(["node", "-e", `require("fs").writeFileSync("${path}", "")`]);
  for (const path of ["/new", "/opt/sluice/new", "/etc/new", "/run/secrets/serve_token", "/etc/sluice/serve.json"]) {
    assert.match((await write(path)).output, /EROFS/, path);
  }
  for (const path of ["/tmp/new", "/data/new"]) assert.equal((await write(path)).code, 0, path);
}

async function hasNoNpm(container) {
  for (const name of ["npm", "npx", "corepack", "yarn"]) {
    const { code } = await container.run(["sh", "-c", `command -v ${name}`]);
    assert.notEqual(code, 0, `${name} is there`);
  }
}
