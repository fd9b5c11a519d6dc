/**
 * A real S3 service in a folder of its own: Ceph's gateway over one disk in memory.
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const config = (folder, fsid, monitor, gateway, settings) => `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitor}/0]
ms bind msgr1 = false
ms mon client mode = crc
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = none
auth service required = none
auth client required = none
mon data = ${folder}/mon
mon allow pool size one = true
mon data avail crit = 0
paxos propose interval = 0.05
paxos min wait = 0.01
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = 12G
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd memory target = 939524096
run dir = ${folder}
pid file =
admin socket =
log file =
log to stderr = false
mon cluster log to file = false
rgw data = ${folder}/gateway
rgw frontends = beast endpoint=${gateway} tcp_nodelay=1
rgw thread pool size = 64
rgw gc max objs = 1
${settings.map((line) => `${line}\n`).join("")}`;

/** Whose credentials are used, as the service calls it. */
export const ACCOUNT = "tester";

/**
 * Starts it, without a bucket. The gateway answers soon after.
 * @param {string} folder empty
 * @param {object} options
 * @param {number} options.monitor a free port, on this machine alone
 * @param {string} options.gateway ADDRESS:PORT where S3 is spoken
 * @param {{ accessKeyId: string, secretAccessKey: string }} options.credentials
 * @param {(program: string, args: string[]) => Promise<unknown>} options.run to its end
 * @param {(program: string, args: string[]) => Promise<unknown>} options.serve until everything is over
 * @param {string[]} [options.settings] more lines of its configuration
 */
export async function startCeph(folder, { monitor, gateway, credentials, run, serve, settings = [] }) {
  const [fsid, disk] = [crypto.randomUUID(), crypto.randomUUID()];
  const file = join(folder, "ceph.conf");
  const all = ["--conf", file];
  writeFileSync(file, config(folder, fsid, monitor, gateway, settings));
  for (const name of ["mon", "osd"]) mkdirSync(join(folder, name));
  const map = join(folder, "monmap");
  await run("monmaptool", [...all, "--create", "--fsid", fsid, "--addv", "a", `[v2:127.0.0.1:${monitor}]`, map]);
  await run("ceph-mon", [...all, "--id", "a", "--mkfs", "--monmap", map]);
  await serve("ceph-mon", [...all, "--id", "a", "--foreground"]);
  await run("ceph", [...all, "--connect-timeout", "30", "osd", "new", disk]);
  await run("ceph-osd", [...all, "--id", "0", "--mkfs", "--osd-uuid", disk]);
  await serve("ceph-osd", [...all, "--id", "0", "--foreground"]);
  await serve("radosgw", [...all, "--name", "client.admin", "--foreground"]);
  const keys = ["--access-key", credentials.accessKeyId, "--secret-key", credentials.secretAccessKey];
  await run("radosgw-admin", [...all, "user", "create", "--uid", ACCOUNT, "--display-name", ACCOUNT, ...keys]);
}
