/**
 * `sluice artifacts stat`
 * @module
 */
import type { ArtifactRef } from "../../artifacts/store.js";
import type { Invocation } from "../commands.js";
import { Exit } from "../exit.js";
import { artifactId, locate } from "../locate.js";
import { parseScope, scopeText } from "../scope.js";
import { openKeptStore } from "../store.js";
import type { Terminal } from "../terminal.js";
import { humanSize } from "../../core/amounts.js";
import { printable } from "../words.js";

export async function run(invocation: Invocation, { output }: Terminal): Promise<number> {
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const store = await openKeptStore(invocation.value("store"));
  const ref = await locate(store, artifactId(invocation.operands[0] ?? ""), scope);
  if (invocation.has("json")) await output.write(`${JSON.stringify(ref, null, 2)}\n`);
  else
    for (const [name, value] of facts(ref)) await output.write(`${output.dim(name.padEnd(9))} ${printable(value)}\n`);
  return Exit.ok;
}

function facts(ref: ArtifactRef): (readonly [string, string])[] {
  const all: (readonly [string, string])[] = [
    ["id", ref.id],
    ["type", ref.mime_type ?? "unknown"],
    ["size", `${humanSize(ref.size_bytes)} (${ref.size_bytes.toLocaleString("en")} bytes)`],
    ["sha256", ref.sha256],
    ["file name", ref.filename ?? ""],
    ["scope", scopeText(ref.scope)],
    ["namespace", ref.namespace],
    ["source", Object.keys(ref.source).length === 0 ? "" : JSON.stringify(ref.source)],
  ];
  return all.filter(([, value]) => value !== "");
}
