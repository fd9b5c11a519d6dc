/**
 * A server's address, as somebody types it.
 * @module
 */
import { cleanNamespace } from "mcp-sluice";
import type { ServerAddress } from "../engine/contract.js";

/** Hosts of this machine: the port says more than the name. */
const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** The address, under a name that nobody has yet. */
export function addressFrom(url: string, token: string, taken: readonly string[]): ServerAddress {
  const { hostname, port } = new URL(url);
  const isHere = LOOPBACK.has(hostname);
  const wanted = cleanNamespace(isHere ? `local-${port}` : hostname).slice(0, 40);
  let name = wanted;
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted}-${number}`;
  return { name, kind: "http", url, ...(token !== "" && { token }) };
}
