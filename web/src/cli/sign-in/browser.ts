/**
 * The browser of the person at the terminal.
 * @module
 */
import { spawn } from "node:child_process";
import { childEnvironment } from "../../mcp/server-process.js";

/** What opens an address, by platform. None is a shell: an address may hold what a shell would run. */
const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Whether there is likely to be a browser that the person sees. */
export function hasBrowser(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  const isThere = (name: string): boolean => (env[name] ?? "") !== "";
  if (isThere("CI") || isThere("SSH_CONNECTION")) return false;
  return platform === "darwin" || platform === "win32" || isThere("DISPLAY") || isThere("WAYLAND_DISPLAY");
}

/** Opens an http(s) address. Where that fails nothing happens: the address stands in the terminal. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const [program, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true, env: childEnvironment(env) });
  child.on("error", () => undefined);
  child.unref();
}
