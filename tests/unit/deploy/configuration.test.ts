/** What is in `deploy/` fits together, and is what the programs that read it take. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { checkServeFile } from "../../../web/src/cli/serve/config-file.js";
import { findOnPath } from "../../../scripts/on-path.mjs";
import { readComposition } from "../../../scripts/smoke/composition.mjs";
import { readContainerfile } from "../../../scripts/smoke/containerfile.mjs";
import { ROOT } from "../cli/command.js";

const run = promisify(execFile);
const isHere = (program: string): boolean => findOnPath(program) !== undefined;

interface Service {
  readonly image?: string;
  readonly build?: { readonly dockerfile?: string; readonly dockerfile_inline?: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly hostname?: string;
}

interface Composition {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: object;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

/** A copy with secrets, where programs may write. */
let deploy: string;
let composition: Composition;
let services: readonly (readonly [string, Service])[];

beforeAll(async () => {
  deploy = join(await mkdtemp(join(tmpdir(), "sluice-deploy-")), "deploy");
  await cp(join(ROOT, "deploy"), deploy, { recursive: true, filter: (path) => !path.includes("/secrets") });
  await run("sh", [join(deploy, "make-secrets.sh")]);
  composition = readComposition(await readFile(join(deploy, "compose.yaml"), "utf8")) as Composition;
  services = Object.entries(composition.services);
});

afterAll(() => rm(join(deploy, ".."), { recursive: true, force: true }));

describe("deploy/compose.yaml", () => {
  test("names only what is there: services, networks, volumes, secrets and files", async () => {
    const files = new Set(await readdir(deploy));
    for (const [name, { depends_on = [], networks = [], secrets = [], volumes = [] }] of services) {
      const wanted = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      for (const each of wanted as string[])
        expect([name, Object.keys(composition.services)]).toEqual([name, expect.arrayContaining([each])]);
      for (const each of networks) expect(composition.networks).toHaveProperty([each]);
      for (const each of secrets)
        expect(files.has("secrets") && composition.secrets[each]?.file).toBe(`./secrets/${each}`);
      for (const volume of volumes) {
        const [from = ""] = volume.split(":");
        const isThere = from.startsWith(".")
          ? await stat(join(ROOT, "deploy", from)).then(() => true)
          : Object.hasOwn(composition.volumes, from);
        expect([volume, isThere]).toEqual([volume, true]);
      }
    }
  });

  test("has images of exact versions", () => {
    const taken = services.flatMap(([, { image, build }]) => (build === undefined ? [image] : []));
    expect(taken.length).toBeGreaterThan(4);
    for (const image of taken) expect(image).toMatch(/^docker\.io\/[\w./-]+:v?\d+\.\d+[\w.-]*$/);
    const inline = services.flatMap(([, { build }]) => build?.dockerfile_inline ?? []);
    expect(inline.map((text) => readContainerfile(text).length)).toEqual([1]);
  });

  test("gives our processes nothing that they do not need, and time to end", () => {
    const ours = services.filter(([, { image }]) => image === "sluice");
    expect(ours.map(([name]) => name)).toEqual(["sluice-1", "sluice-2", "bucket"]);
    for (const [, service] of ours) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
      expect(Number.parseInt(service.stop_grace_period ?? "", 10)).toBeGreaterThanOrEqual(45);
    }
  });

  test("publishes on this machine alone, and Redis, S3 and our processes not at all", () => {
    for (const [, { ports = [] }] of services) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    const inner = services.filter(([, { ports }]) => ports === undefined);
    expect(inner.map(([name]) => name)).toEqual(["sluice-1", "sluice-2", "redis", "s3", "bucket", "tools"]);
    for (const [, { networks }] of inner) expect(networks).toEqual(["inside"]);
    expect(composition.networks["inside"]).toEqual({ internal: true });
  });

  test("has every secret in a file", () => {
    const said = services.flatMap(([, { environment = {} }]) => Object.entries(environment));
    const secrets = said.filter(([name]) => /SECRET|TOKEN|CREDENTIALS|PASSWORD|KEY/.test(name));
    expect(secrets.length).toBeGreaterThan(4);
    for (const [, value] of secrets) expect(value).toMatch(/^\/run\/secrets\/\w+$/);
  });

  test("has a Redis that forgets nothing by itself", () => {
    const words = composition.services["redis"]?.command?.join(" ");
    expect(words).toContain("--appendonly yes");
    expect(words).toContain("--maxmemory-policy noeviction");
  });
});

describe("deploy/make-secrets.sh", () => {
  test("makes secrets that nobody guesses, the same two keys for the service and its clients, and keeps what is there", async () => {
    const read = (name: string): Promise<string> => readFile(join(deploy, "secrets", name), "utf8");
    const names = await readdir(join(deploy, "secrets"));
    const before = await Promise.all(names.map(read));
    for (const name of ["serve_secret", "serve_token", "metrics_token"])
      expect(await read(name)).toMatch(/^[0-9a-f]{64}$/);
    const { identities } = JSON.parse(await read("s3_identities")) as {
      identities: { credentials: { accessKey: string; secretKey: string }[] }[];
    };
    const { accessKey = "", secretKey = "" } = identities[0]?.credentials[0] ?? {};
    expect(await read("s3_credentials")).toBe(
      `[default]\naws_access_key_id = ${accessKey}\naws_secret_access_key = ${secretKey}\n`,
    );
    expect((await stat(join(deploy, "secrets"))).mode & 0o777).toBe(0o700);
    await run("sh", [join(deploy, "make-secrets.sh")]);
    expect(await Promise.all(names.map(read))).toEqual(before);
  });
});

test("deploy/serve.json is a configuration of `sluice serve`, with the services' own addresses", async () => {
  const said = JSON.parse(await readFile(join(deploy, "serve.json"), "utf8")) as Record<string, unknown>;
  const { config } = checkServeFile(said, {});
  expect(config).toMatchObject({ listen: "0.0.0.0:4751", metrics: "0.0.0.0:9464", state: "redis://redis:6379" });
  for (const address of JSON.stringify(config).match(/(?<=:\/\/)[\w-]+(?=:\d)/g) ?? []) {
    expect(composition.services).toHaveProperty([address]);
  }
});

test.runIf(isHere("haproxy"))("HAProxy takes deploy/haproxy.cfg, which asks both processes for /ready", async () => {
  const text = await readFile(join(deploy, "haproxy.cfg"), "utf8");
  for (const name of ["sluice-1", "sluice-2"]) expect(text).toContain(`server ${name} ${name}:4751`);
  expect(text).toContain("uri /ready");
  await run("haproxy", ["-c", "-f", join(deploy, "haproxy.cfg")]);
});

test.runIf(isHere("promtool"))(
  "Prometheus takes deploy/prometheus.yml, which scrapes both by their own names",
  async () => {
    const text = await readFile(join(deploy, "prometheus.yml"), "utf8");
    const { scrape_configs } = parse(text) as { scrape_configs: { static_configs: { targets: string[] }[] }[] };
    const targets = scrape_configs[0]?.static_configs[0]?.targets ?? [];
    expect(targets.map((target) => composition.services[target.replace(/:9464$/, "")]?.hostname)).toEqual([
      "sluice-1",
      "sluice-2",
    ]);
    const here = join(deploy, "here.yml");
    await writeFile(here, text.replace("/run/secrets", join(deploy, "secrets")));
    await run("promtool", ["check", "config", here]);
  },
);

describe("deploy/sluice.service", () => {
  let text: string;
  beforeAll(async () => {
    text = await readFile(join(deploy, "sluice.service"), "utf8");
  });

  test("reads secrets as credentials, and leaves time to end", () => {
    for (const [, path = ""] of text.matchAll(/_FILE=(\S+)/g)) expect(path).toMatch(/^%d\//);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(45);
  });

  test.runIf(isHere("systemd-analyze"))("systemd finds nothing wrong, and little that is exposed", async () => {
    // It looks for the program, which need not be installed where the unit says.
    const unit = join(deploy, "sluice.service");
    await mkdir(join(deploy, "unit"));
    const here = join(deploy, "unit", "sluice.service");
    await writeFile(here, text.replace("/usr/bin/node", process.execPath));
    const { stderr } = await run("systemd-analyze", ["verify", "--man=no", here]);
    expect(stderr).not.toContain("sluice.service");
    await run("systemd-analyze", ["security", "--offline=true", "--no-pager", "--threshold=15", unit]);
  });
});
