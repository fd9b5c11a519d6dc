/**
 * Which server an operation of an OpenAPI description is on.
 * @module
 */
import { wrong } from "../../problem.js";
import { isObject, type Document } from "../utcp/document.js";

/**
 * The first server that the operation, its path or the document names, without a slash at its end.
 *
 * @param places innermost first.
 * @param from where the document is: servers may be relative to it.
 * @throws ToolNodeError E_TOOL_CONFIG where there is none.
 */
export function serverOf(places: readonly Document[], from: URL | null, subject: string): string {
  const written =
    places.map(firstServer).find((server) => server !== undefined) ?? ofVersion2(places.at(-1) ?? {}, from);
  if (written === undefined && from !== null) return from.origin;
  const url = written === undefined ? undefined : absolute(written, from);
  if (url === undefined) {
    throw wrong(`${subject} has a description of an API that names no server: its "servers" must hold a whole URL.`);
  }
  return url.replace(/\/+$/, "");
}

function firstServer({ servers }: Document): string | undefined {
  const [server] = Array.isArray(servers) ? (servers as unknown[]) : [];
  if (!isObject(server) || typeof server["url"] !== "string") return undefined;
  const { url, variables } = server as { readonly url: string; readonly variables?: unknown };
  return url.replace(/\{([^{}]{1,128})\}/g, (text, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isObject(variable) && typeof variable["default"] === "string" ? variable["default"] : text;
  });
}

function ofVersion2({ swagger, host, basePath, schemes }: Document, from: URL | null): string | undefined {
  if (swagger === undefined) return undefined;
  const path = typeof basePath === "string" ? basePath : "/";
  if (typeof host !== "string") return path;
  const offered: readonly unknown[] = Array.isArray(schemes) ? schemes : [];
  const scheme = offered.includes("https") ? "https" : (offered[0] ?? from?.protocol.slice(0, -1) ?? "https");
  return `${scheme === "http" ? "http" : "https"}://${host}${path}`;
}

function absolute(url: string, from: URL | null): string | undefined {
  if (/^https?:\/\//i.test(url)) return url;
  return from !== null && URL.canParse(url, from.href) ? new URL(url, from.href).href : undefined;
}
