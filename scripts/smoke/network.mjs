/**
 * A network for containers, within that of this process, which has to be one of its own: a bridge, and for each name a namespace with an
 * address on it. Nothing leads out of it.
 * @module
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";

/** Addresses that no network has (RFC 5737). */
const address = (number) => `192.0.2.${number}`;

/** Makes it for some names, which this process and all that it starts know from `/etc/hosts`. */
export function makeNetwork(names, folder) {
  mkdirSync("/run/netns", { recursive: true });
  ip("link add sluice0 type bridge");
  ip(`addr add ${address(1)}/24 dev sluice0`);
  ip("link set sluice0 up");
  for (const [index, name] of names.entries()) {
    ip(`netns add ${name}`);
    ip(`link add at${index} type veth peer name eth0 netns ${name}`);
    ip(`link set at${index} master sluice0 up`);
    ip(`-n ${name} addr add ${address(index + 2)}/24 dev eth0`);
    for (const device of ["lo", "eth0"]) ip(`-n ${name} link set ${device} up`);
  }
  const lines = names.map((name, index) => `${address(index + 2)} ${name}\n`);
  const files = { hosts: `127.0.0.1 localhost\n${lines.join("")}`, "resolv.conf": "nameserver 127.0.0.11\n" };
  return Object.entries(files).map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    mount("--bind", join(folder, name), `/etc/${name}`);
    return { from: join(folder, name), to: `/etc/${name}` };
  });
}

/** What this process has of its own: loopback, and an empty `/run`. */
export function makeBeginning() {
  ip("link set lo up");
  mount("-t", "tmpfs", "tmpfs", "/run");
}

const ip = (line) => execFileSync("ip", line.split(" "));
const mount = (...words) => execFileSync("mount", words);

/** Publishes a port of a name at the same port of this machine's own address, as engines do. */
export async function publish(name, port) {
  const server = createServer((client) => {
    const inner = connect({ host: name, port });
    for (const [one, other] of [
      [client, inner],
      [inner, client],
    ]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
}
