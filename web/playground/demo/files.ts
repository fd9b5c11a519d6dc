/**
 * Files that tools make when they are called: a web page, a program, a tune and noise.
 * @module
 */
import { base64 } from "../base64.js";
import { dollars, MONTHS, PRODUCTS, REGIONS, revenue, YEAR } from "./sales.js";
import { fillNoise } from "./random.js";

/** A page with figures that also tries what the sandbox forbids: a script, a remote image and a form. */
export function webPage(): string {
  const rows = REGIONS.map((region, i) => {
    const sum = MONTHS.reduce((part, _, month) => part + revenue(i, month), 0);
    return `<tr><th scope="row">${region}</th><td>${dollars(sum)}</td></tr>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Sales ${YEAR}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1b2b44; background: #f4f6f9; margin: 0; }
main { max-width: 40rem; margin: 2rem auto; padding: 1.5rem 2rem; background: #fff; border-radius: 12px; }
h1 { margin-top: 0; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .4rem .6rem; border-bottom: 1px solid #dde3ea; text-align: left; }
td { text-align: right; font-variant-numeric: tabular-nums; }
.tries { margin-top: 2rem; padding: 1rem; border: 1px dashed #8a97a8; border-radius: 8px; }
</style>
</head>
<body>
<main>
<h1>Sales ${YEAR}</h1>
<p>Fieldwork Outdoor Supply, all products, by region.</p>
<table>
${rows.join("\n")}
</table>
<section class="tries">
<h2>What this page tries</h2>
<p id="script">A script: it did not run.</p>
<p>A picture from elsewhere: <img src="https://pictures.example/pixel.png" alt="it was not loaded" width="160" height="20"></p>
<form action="https://forms.example/collect" method="post">
<p>A form: <input name="mail" type="email" aria-label="Mail address" value="you@example.com"> <button>Send, to nowhere</button></p>
</form>
</section>
</main>
<script>
document.getElementById("script").textContent = "A script: it ran.";
new Image().src = "https://pictures.example/ran.png";
</script>
</body>
</html>
`;
}

/** Characters of the program, about. */
const PROGRAM_SIZE = 40_000;

/** TypeScript that prices orders: a rule for every product, region and month until it is long enough. */
export function sourceCode(): string {
  const parts = [
    `/**\n * Prices of orders in ${YEAR}: one rule for each product, region and month.\n */\n`,
    "export interface Order {\n  readonly product: string;\n  readonly region: string;\n  readonly units: number;\n}\n",
    "export type Rule = (order: Order) => number | undefined;\n",
  ];
  const names: string[] = [];
  let size = 0;
  for (let i = 0; size < PROGRAM_SIZE; i += 1) {
    const [name, text] = rule(i);
    names.push(name);
    parts.push(text);
    size += text.length + name.length + 5;
  }
  parts.push(
    `/** In the order in which they are tried. */\nexport const RULES: readonly Rule[] = [\n  ${names.join(",\n  ")},\n];\n`,
  );
  parts.push(PRICE);
  return parts.join("\n");
}

const PRICE = `/** What an order costs, in dollars. Throws a RangeError for an order that no rule knows. */
function sumPrice(order: Order): number {
  for (const rule of RULES) {
    const price = rule(order);
    if (price !== undefined) return Math.round(price * order.units * 100) / 100;
  }
  throw new RangeError(\`No rule knows \${order.product} in \${order.region}.\`);
}
`;

function rule(index: number): readonly [name: string, text: string] {
  const [product, price] = PRODUCTS[index % PRODUCTS.length] ?? ["", 0];
  const region = REGIONS[Math.floor(index / PRODUCTS.length) % REGIONS.length] ?? "";
  const month = MONTHS[Math.floor(index / (PRODUCTS.length * REGIONS.length)) % MONTHS.length] ?? "";
  const name = `${product.replace(/\W+(\w)/g, (_, first: string) => first.toUpperCase())}In${region}In${month}`;
  const camel = name.charAt(0).toLowerCase() + name.slice(1);
  const least = 2 + ((index * 5) % 9);
  const text = `/** ${product} in ${region}, ${month}: ${least} or more are cheaper. */
export const ${camel}: Rule = ({ product, region, units }) => {
  if (product !== ${JSON.stringify(product)} || region !== ${JSON.stringify(region)}) return undefined;
  const discount = units >= ${least} ? ${(0.02 + (index % 7) * 0.015).toFixed(3)} : 0;
  return ${price} * (1 - discount);
};
`;
  return [camel, text];
}

/** Samples a second; 16 bits each, one channel. */
const RATE = 22_050;
const HEADER = 44;
/** Hertz, up and down a chord of C major with its ninth. */
const NOTES = [261.63, 329.63, 392, 493.88, 587.33, 493.88, 392, 329.63] as const;
/** Seconds from one note to the next, and the time in which one fades to a third. */
const PACE = 0.25;
const FADE = 0.32;

/** An arpeggio that lasts that long. */
export function jingle(seconds: number): Uint8Array<ArrayBuffer> {
  const count = Math.round(seconds * RATE);
  const view = new DataView(new ArrayBuffer(HEADER + count * 2));
  header(view, count * 2);
  for (let i = 0; i < count; i += 1) {
    const ending = Math.min(1, (count - i) / (RATE * 0.2));
    view.setInt16(HEADER + i * 2, sampleAt(i / RATE) * ending * 11_000, true);
  }
  return new Uint8Array(view.buffer);
}

/** What sounds at a time: the notes of the last second, each of them fading. */
function sampleAt(time: number): number {
  const newest = Math.floor(time / PACE);
  let sum = 0;
  for (let note = Math.max(0, newest - 3); note <= newest; note += 1) {
    const age = time - note * PACE;
    const turns = 2 * Math.PI * (NOTES[note % NOTES.length] ?? 0) * age;
    const loudness = Math.exp(-age / FADE) * Math.min(1, age * 200);
    sum += (Math.sin(turns) + 0.3 * Math.sin(2 * turns) + 0.1 * Math.sin(3 * turns)) * loudness;
  }
  return sum;
}

function header(view: DataView, size: number): void {
  const word = (at: number, text: string): void => {
    for (let i = 0; i < text.length; i += 1) view.setUint8(at + i, text.charCodeAt(i));
  };
  word(0, "RIFF");
  view.setUint32(4, HEADER - 8 + size, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, RATE * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, size, true);
}

const MEGABYTE = 1024 * 1024;
/** Bytes per slice: a multiple of 3, so that base64 joins, and of 4. */
const SLICE = 3 * MEGABYTE;
const HEAD = "Sluice demo archive\n\0";

/**
 * That many MiB of noise in base64, the same every time. Yields to other tasks between slices.
 *
 * @throws the signal's reason
 */
export async function noise(megabytes: number, signal: AbortSignal): Promise<string> {
  const slices: string[] = [];
  const words = new Uint32Array(SLICE / 4);
  let seed = 0x2545_f491;
  for (let left = megabytes * MEGABYTE; left > 0; left -= SLICE) {
    seed = fillNoise(words, seed);
    const bytes = new Uint8Array(words.buffer, 0, Math.min(left, SLICE));
    if (slices.length === 0) new TextEncoder().encodeInto(HEAD, bytes);
    slices.push(base64(bytes));
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  return slices.join("");
}
