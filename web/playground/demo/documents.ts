/**
 * Texts that tools give: a page and a program.
 * @module
 */
import { dollars, MONTHS, PRODUCTS, REGIONS, revenue, YEAR } from "./sales.js";

/** A page with figures, and with what a page from elsewhere may not do: a script, a foreign picture, a form. */
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
export function priceOf(order: Order): number {
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
