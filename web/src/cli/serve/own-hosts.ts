/**
 * By which names this machine is asked, when it listens for others.
 * @module
 */
import { hostname, networkInterfaces } from "node:os";
import { isEverywhere, isLoopback } from "../proxy/listen-address.js";

/** Host names and addresses that lead to where it listens, beside those of this machine alone. */
export function ownHosts(host: string): readonly string[] {
  if (isLoopback(host)) return [];
  if (!isEverywhere(host)) return [host];
  const addresses = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address));
  // An address that is good on one wire alone has the wire's name behind it.
  return [hostname(), ...addresses.map((address) => address.replace(/%.*$/, ""))];
}
