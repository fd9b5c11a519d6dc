import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stack } from "./stack.mjs";
import { dayOf } from "./day.mjs";
const folder = mkdtempSync(join(tmpdir(), "sluice-drill-"));
const say = (x) => console.log(((performance.now()/1000)|0) + " " + x);
const scale = Number(process.argv[2] ?? 0.02), store = process.argv[3] ?? "folder";
const stack = await Stack.started(join(folder, "one"), { store });
say("started " + folder);
try {
  const d = await dayOf(stack, { scale, sessions: 10000*scale, downloads: Math.round(500*scale), atOnce: 24, rest: 5, say });
  const { attempts, history, probes, phases, ...rest } = d;
  console.log(JSON.stringify(rest, null, 1));
  const by = {};
  for (const a of attempts) { const k = a.operation; (by[k] ??= []).push(a.ms); }
  for (const [k, v] of Object.entries(by)) { v.sort((x,y)=>x-y); console.log(k, v.length, v[v.length>>1].toFixed(1), v[v.length*0.99|0].toFixed(1), v.at(-1).toFixed(0)); }
  const errs = {}; for (const a of attempts) if (a.status === 0 || a.status>=400) { const k = `${a.operation} ${a.phase}->${a.until} ${a.status} ${a.code}`; errs[k]=(errs[k]??0)+1; }
  console.log(errs);
  console.log(phases.map(({name,from,to,...r})=>[name,(to-from)|0,r]));
} catch (e) { console.log(e); console.log(stack.servers?.map(s=>s.log.slice(-3000))); }
console.log(stack.servers?.map(s=>s.log.slice(-1500)).join("\n----\n"));
await stack[Symbol.asyncDispose]();
if (!process.argv[4]) rmSync(folder, {recursive:true});
process.exit();
