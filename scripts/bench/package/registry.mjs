/**
 * A registry on this machine that has the package and what an installation of it brings, so that times are those of npm and of
 * the package, not of a network.
 * @module
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Says nothing and asks for nothing that an installation does not need. */
const QUIET = ["--no-audit", "--no-fund", "--no-progress", "--no-update-notifier", "--loglevel=error"];

/** Runs npm in a folder. */
export async function npm(args, cwd, options = {}) {
  const { stdout } = await run("npm", [...args, ...QUIET], { cwd, maxBuffer: 64 * 1024 * 1024, ...options });
  return stdout;
}

/** The manifests of all packages installed in a folder. */
export function installed(folder) {
  const modules = join(folder, "node_modules");
  return readdirSync(modules, { recursive: true, withFileTypes: true })
    .filter((file) => file.name === "package.json" && isHome(file.parentPath))
    .map((file) => JSON.parse(readFileSync(join(file.parentPath, file.name), "utf8")));
}

// `…/node_modules/name` or `…/node_modules/@scope/name`: packages have files of that name in folders of theirs, too.
function isHome(folder) {
  return /[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\@.][^/\\]*$/.test(folder);
}

/**
 * Starts the registry.
 * @param {readonly { manifest: object, tarball: Buffer }[]} packages
 */
export async function startRegistry(packages) {
  const documents = new Map();
  const tarballs = new Map();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://registry").pathname.slice(1));
    const found = tarballs.get(path) ?? documents.get(path);
    if (found === undefined) response.writeHead(404, { "content-type": "application/json" }).end("{}");
    else response.writeHead(200, { "content-type": typeof found === "string" ? "application/json" : TAR }).end(found);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  for (const [name, versions] of grouped(packages)) {
    const described = versions.map(({ manifest, tarball }) => {
      const path = `${name}/-/${manifest.version}.tgz`;
      tarballs.set(path, tarball);
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      return { ...manifest, dist: { tarball: `${url}${path}`, integrity } };
    });
    documents.set(
      name,
      JSON.stringify({
        name,
        "dist-tags": { latest: described.at(-1).version },
        versions: Object.fromEntries(described.map((each) => [each.version, each])),
      }),
    );
  }
  return { url, close: () => server.close() };
}

const TAR = "application/octet-stream";

function grouped(packages) {
  const groups = new Map();
  for (const each of packages) groups.set(each.manifest.name, [...(groups.get(each.manifest.name) ?? []), each]);
  return groups;
}
