/** Conversions run in a process of their own, and its limits of time, memory and output hold. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import type { ConversionFacts, ConversionRequest } from "../../../web/src/documents/conversion.js";
import { convertInWorker } from "../../../web/src/documents/sandbox-node.js";
import { inTurn, type ConversionLimits } from "../../../web/src/documents/sandbox.js";
import { pdfOf } from "../../support/pdf.js";

const HTML: ConversionRequest = { kind: "html", form: "text" };

interface Outcome {
  readonly facts: ConversionFacts;
  readonly text: string;
}

async function convert(
  input: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  request = HTML,
  limits: Partial<ConversionLimits> = {},
  signal?: AbortSignal,
): Promise<Outcome> {
  let text = "";
  const write = async (chunk: Uint8Array): Promise<void> => void (text += new TextDecoder().decode(chunk));
  const source = (async function* (): AsyncGenerator<Uint8Array> {
    yield* input;
  })();
  const facts = await convertInWorker({
    request,
    input: source,
    write,
    limits,
    ...(signal !== undefined && { signal }),
  });
  return { facts, text };
}

const bytes = (text: string): Uint8Array[] => [new TextEncoder().encode(text)];

/** Children of this process that convert. */
function running(): number {
  const list = execFileSync("ps", ["-o", "args=", "--ppid", String(process.pid)], { encoding: "utf8" });
  return list.split("\n").filter((line) => line.includes("documents/child.js")).length;
}

test("text comes back with its facts, and the process ends", async () => {
  const { facts, text } = await convert(bytes("<h1>One</h1><p>two"));
  expect(text).toBe("# One\n\ntwo\n");
  expect(facts).toMatchObject({ part: "section", parts: 1 });
  expect(running()).toBe(0);
});

test.each<[keyof ConversionLimits, Partial<ConversionLimits>, string]>([
  ["time", { time: 20 }, "Retry once, then"],
  ["memory", { memory: 40 * 1024 * 1024 }, "Do not retry"],
  ["output", { output: 3 }, "Do not retry"],
])("the limit of %s holds, and says whether to try again", async (_name, limits, advice) => {
  const pages = Array.from({ length: 3000 }, () => ({ lines: ["some text"] }));
  const outcome = convert([pdfOf(pages)], { kind: "pdf", form: "text" }, limits);
  await expect(outcome).rejects.toMatchObject({
    code: "E_TOO_LARGE",
    message: expect.stringContaining(advice),
  });
  expect(running()).toBe(0);
});

test("a document of many pieces leaves no listeners", async () => {
  const warnings: string[] = [];
  const heed = ({ name }: Error): void => void warnings.push(name);
  process.on("warning", heed);
  const piece = new TextEncoder().encode(`<p>${"a ".repeat(128 * 1024)}</p>`);
  await convert(Array.from({ length: 40 }, () => piece));
  // Warnings come with the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", heed);
  expect(warnings).toEqual([]);
});

test("an abort ends the process, also while the document still comes", async () => {
  const abort = new AbortController();
  const endless = (async function* (): AsyncGenerator<Uint8Array> {
    for (;;) {
      yield new TextEncoder().encode("<p>more");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const outcome = convert(endless, HTML, {}, abort.signal);
  setTimeout(() => abort.abort(new Error("enough")), 100);
  await expect(outcome).rejects.toThrow("enough");
  expect(running()).toBe(0);
});

test("what the store says of the document is what is told", async () => {
  const broken = (async function* (): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode("<p>");
    throw new Error("the disk is gone");
  })();
  await expect(convert(broken)).rejects.toThrow("the disk is gone");
  expect(running()).toBe(0);
});

test("a document that is no such document ends in a coded error without its words", async () => {
  const outcome = convert(bytes("secret words that are no workbook"), { kind: "workbook", form: "text" });
  await expect(outcome).rejects.toMatchObject({ code: "E_DOCUMENT", message: expect.not.stringContaining("secret") });
});

test("no more than four run at a time; whoever waits is told after a while, and leaves the line when it gives up", async () => {
  let at = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const work = async (): Promise<void> => {
    most = Math.max(most, (at += 1));
    await new Promise<void>((resolve) => ends.push(resolve));
    at -= 1;
  };
  const first = Array.from({ length: 4 }, () => inTurn(work, undefined));
  await expect(inTurn(work, undefined, 20)).rejects.toMatchObject({
    code: "E_RATE_LIMIT",
    message: "Other documents are still being read: wait a minute, then call again.",
  });
  const abort = new AbortController();
  const given = inTurn(work, abort.signal);
  abort.abort(new Error("enough"));
  await expect(given).rejects.toThrow("enough");
  // Its turn came in time: how long it then takes is another limit.
  const last = inTurn(work, undefined, 100);
  ends.shift()?.();
  await expect.poll(() => ends.length).toBe(4);
  await new Promise((resolve) => setTimeout(resolve, 120));
  for (const end of ends) end();
  await Promise.all([...first, last]);
  expect(most).toBe(4);
});

test("a conversion ends when the process that asked for it is killed", async () => {
  const program = createRequire(import.meta.url).resolve("#child");
  // The pipe that it reads is ours, and stays open: by itself it would wait for the document without end.
  const code = `
    const args = [${JSON.stringify(program)}, String(2 ** 30), "60000"];
    const child = require("node:child_process").spawn(process.execPath, args, { stdio: ["inherit", "ignore", "ignore"] });
    setTimeout(() => console.log(child.pid), 1000);`;
  const parent = spawn(process.execPath, ["--eval", code], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const [said] = (await once(parent.stdout, "data")) as [Buffer];
    const child = Number(said.toString());
    expect(isRunning(child)).toBe(true);
    parent.kill("SIGKILL");
    await expect.poll(() => isRunning(child), { timeout: 5000 }).toBe(false);
  } finally {
    parent.stdin.end();
  }
});

test("a conversion ends by itself when its time is over, whatever the process does that asked for it", async () => {
  const program = createRequire(import.meta.url).resolve("#child");
  const child = spawn(process.execPath, [program, String(2 ** 30), "1000"], { stdio: ["pipe", "ignore", "inherit"] });
  // It waits for a document that never comes.
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  expect([code, signal]).toEqual([null, "SIGKILL"]);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
