/**
 * The files that the thirty tasks are about, made from a fixed seed, with what the tasks need to know of them. Each is made when it is
 * first asked for.
 * @module
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { runnerImport } from "vite";
import { makePng } from "../../demo/png.mjs";
import { numbers, WORDS } from "../random.mjs";

const support = async (name) =>
  (await runnerImport(fileURLToPath(new URL(`../../../tests/support/${name}`, import.meta.url)))).module;

const REGIONS = ["north", "south", "east", "west", "centre"];
const PRODUCTS = ["kettle", "lamp", "desk", "chair", "shelf", "clock", "rug", "mirror"];
const CITIES = ["Oslo", "Paris", "Rome", "Bern", "Riga"];

const day = (number) => new Date(Date.UTC(2025, 0, 1) + number * 86_400_000).toISOString().slice(0, 10);

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

const cell = (text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** 50,000 sales: money in whole cents, so that sums are exact. */
function sales() {
  const { whole, one } = numbers(1);
  const rows = Array.from({ length: 50_000 }, (_, index) => {
    const quantity = 1 + whole(20);
    return {
      id: `S-${10_001 + index}`,
      date: day(whole(330)),
      region: one(REGIONS),
      product: one(PRODUCTS),
      customer: `K${String(whole(700) + 1).padStart(4, "0")}`,
      quantity,
      total: quantity * (5 + whole(200)),
      note: index === 20_416 ? 'Leave at door, "blue gate"' : whole(40) === 0 ? "fragile, call first" : "",
    };
  });
  const lines = rows.map((row) => Object.values(row).map(String).map(cell).join(","));
  return { bytes: Buffer.from(`id,date,region,product,customer,quantity,total,note\n${lines.join("\n")}\n`), rows };
}

/** 10,600 goods of a store. */
function stock() {
  const { whole, one } = numbers(2);
  const lines = Array.from(
    { length: 10_600 },
    (_, index) => `P-${1000 + index},${one(PRODUCTS)},${one(CITIES)},${whole(500)},${5 + whole(200)}.50`,
  );
  return { bytes: Buffer.from(`sku,product,city,stock,price\n${lines.join("\n")}\n`) };
}

/** 20,000 requests, one a line. */
function events() {
  const { whole, one } = numbers(3);
  const rows = Array.from({ length: 20_000 }, (_, index) => ({
    at: new Date(Date.UTC(2026, 4, 1) + index * 4000).toISOString(),
    service: one(["billing", "search", "login", "mail"]),
    status: one([200, 200, 200, 200, 201, 304, 404, 500]),
    ms: 3 + whole(900),
  }));
  return { bytes: Buffer.from(`${rows.map((row) => JSON.stringify(row)).join("\n")}\n`), rows };
}

/** Customers and their orders on one line, as servers send JSON. One customer has no order. */
function orders() {
  const { whole, one } = numbers(4);
  const customers = Array.from({ length: 120 }, (_, index) => ({ id: `C${1000 + index * 7}`, city: one(CITIES) }));
  const without = customers[77].id;
  const buyers = customers.filter(({ id }) => id !== without);
  const list = Array.from({ length: 8000 }, (_, index) => ({
    order: 50_000 + index,
    customer: index < buyers.length ? buyers[index].id : one(buyers).id,
    city: one(CITIES),
    status: one(["open", "paid", "paid", "sent", "sent", "sent"]),
    total: 10 + whole(990),
  }));
  return { bytes: Buffer.from(JSON.stringify({ customers, orders: list })), customers, orders: list, without };
}

/** A configuration of 390 services, indented. */
function config() {
  const { whole, one, words } = numbers(5);
  const services = Object.fromEntries(
    Array.from({ length: 390 }, (_, index) => [
      `${one(WORDS)}-${index}`,
      {
        image: `registry.example.com/${one(WORDS)}:${whole(9)}.${whole(30)}`,
        description: words(40),
        replicas: 1 + whole(9),
        limits: { cpu: `${100 + whole(900)}m`, memory: `${64 + whole(960)}Mi` },
        ports: [8000 + whole(999), 9000 + whole(999)],
        retry: { attempts: 1 + whole(6), wait: { first_ms: 50 + whole(450), factor: 2 } },
        env: { LOG_LEVEL: one(["info", "warn", "debug"]), REGION: one(REGIONS), TOKEN_TTL: whole(9000) },
      },
    ]),
  );
  const names = Object.keys(services);
  const value = { version: 3, defaults: { timeout_ms: 4500 }, services };
  const text = `${JSON.stringify(value, null, 2)}\n`;
  return { bytes: Buffer.from(text), value, name: names[173], edited: names[211] };
}

/** 40 MB of a server's log: one line is FATAL, many are INFO, some of the later ones ERROR. */
function log() {
  const { whole, one } = numbers(6);
  const paths = Array.from({ length: 40 }, () => `/${one(WORDS)}/${one(WORDS)}`);
  const lines = [];
  let size = 0;
  for (let at = 0; size < 40_000_000; at += 1) {
    const time = new Date(Date.UTC(2026, 5, 1) + at * 160).toISOString();
    const status = whole(4000) === 0 ? 503 : one([200, 200, 200, 204, 301, 404]);
    const level = at === 300_007 || (at > 300_007 && whole(2000) === 0) ? "ERROR" : "INFO";
    const said = level === "ERROR" ? "upstream closed the connection" : `${one(["GET", "POST"])} ${one(paths)}`;
    const line =
      at === 260_004
        ? `${time} FATAL web-3 disk sdb1 failed after ${71_000 + whole(900)} hours`
        : `${time} ${level} web-${whole(8)} ${said} status=${status} ms=${whole(900)} id=${whole(1e9).toString(36)}`;
    lines.push(line);
    size += line.length + 1;
  }
  return { bytes: Buffer.from(`${lines.join("\n")}\n`), lines };
}

/** A report of 64 pages with an outline of eight chapters; a table stands on page 41. */
async function pdf() {
  const { pdfOf } = await support("pdf.ts");
  const { whole, one, words } = numbers(7);
  const chapters = ["Summary", "Markets", "Deliveries", "Staff", "Suppliers", "Risks", "Outlook", "Annex"];
  const starts = [1, 6, 15, 22, 33, 39, 50, 58];
  const table = CITIES.map((city) => ({ city, orders: 100 + whole(900), refunds: whole(90) }));
  const pages = Array.from({ length: 64 }, (_, index) => {
    const page = index + 1;
    const chapter = starts.indexOf(page);
    const lines = Array.from({ length: 44 }, () => words(10));
    if (page === 7) lines[20] = "The auditors of the Lisbon branch are Marlowe and Sons.";
    if (page === 41) {
      lines.splice(4, 6, "City Orders Refunds", ...table.map((row) => `${row.city} ${row.orders} ${row.refunds}`));
    }
    return { lines: [`Page ${page} of the ${one(REGIONS)} report`, ...lines], title: chapters[chapter] };
  });
  const bytes = Buffer.from(pdfOf(pages, "Annual report"));
  return { bytes, start: starts[chapters.indexOf("Suppliers")], table, sha256: sha256(bytes) };
}

async function docx() {
  const { word, paragraph, wordPart } = await support("documents.ts");
  const { whole, sentence } = numbers(8);
  const days = 20 + whole(40);
  const heading = '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>';
  const sections = Array.from({ length: 60 }, (_, index) => {
    const title = index === 37 ? "Notice periods" : `Rule ${index + 1}`;
    const paragraphs = Array.from({ length: 12 }, () => paragraph(sentence(45)));
    if (index === 37) paragraphs.unshift(paragraph(`Managers give notice ${days} days ahead, in writing.`));
    return paragraph(title, "Heading1") + paragraphs.join("");
  });
  const bytes = await word(sections.join(""), { "word/styles.xml": wordPart("styles", heading) });
  return { bytes: Buffer.from(bytes), days };
}

const textCell = (value) => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
const numberCell = (value) => `<c><v>${value}</v></c>`;
const dateCell = (value) => `<c s="1"><v>${value}</v></c>`;
const sheet = (rows) => `<sheetData>${rows.map((cells) => `<row>${cells.join("")}</row>`).join("")}</sheetData>`;

async function xlsx() {
  const { workbook } = await support("documents.ts");
  const { whole, one } = numbers(9);
  // Days since 1899-12-30, as Excel counts them; 45658 is 2025-01-01.
  const staff = Array.from({ length: 2500 }, (_, index) => ({
    name: `N${index + 1}`,
    city: one(CITIES),
    since: whole(300),
  }));
  const costs = Array.from({ length: 3000 }, () => ({
    item: one(PRODUCTS),
    city: one(CITIES),
    amount: 5 + whole(900),
  }));
  const bytes = await workbook(
    [
      [
        "Staff",
        sheet([
          ["name", "city", "since"].map(textCell),
          ...staff.map((row) => [textCell(row.name), textCell(row.city), dateCell(45_658 + row.since)]),
        ]),
      ],
      [
        "Costs",
        sheet([
          ["item", "city", "amount"].map(textCell),
          ...costs.map((row) => [textCell(row.item), textCell(row.city), numberCell(row.amount)]),
        ]),
      ],
    ],
    { styles: '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>' },
  );
  return { bytes: Buffer.from(bytes), since: day(staff[1833].since), costs };
}

async function pptx() {
  const { presentation, shape } = await support("documents.ts");
  const { whole, sentence } = numbers(10);
  const code = `gate ${100 + whole(800)}`;
  const slides = Array.from({ length: 45 }, (_, index) => [
    shape("title", `Topic ${index + 1}`) + shape("body", sentence(12), sentence(14)),
    index === 28 ? `Meet the guests at ${code}.` : sentence(15),
  ]);
  const picture = makePng({ width: 400, height: 300, seed: 10 });
  return { bytes: Buffer.from(await presentation(slides, { "ppt/media/image1.png": picture })), code };
}

async function epub() {
  const { book } = await support("documents.ts");
  const { sentence } = numbers(11);
  const chapters = Array.from({ length: 24 }, (_, index) => {
    const paragraphs = Array.from({ length: 40 }, () => `<p>${sentence(40)}</p>`);
    if (index === 16) paragraphs[9] = "<p>The lighthouse keeper was called Ambrose Tull.</p>";
    return `<h1>Chapter ${index + 1}</h1>${paragraphs.join("")}`;
  });
  return { bytes: Buffer.from(await book(chapters)), keeper: "Ambrose Tull" };
}

/** A page of prices with navigation, scripts and styles around, 300 KB. */
function html() {
  const { whole, one, words } = numbers(12);
  const goods = Array.from({ length: 1650 }, (_, index) => ({
    sku: `P-${1000 + index}`,
    name: one(PRODUCTS),
    price: 5 + whole(300),
  }));
  const rows = goods.map(
    ({ sku, name, price }) =>
      `<tr class="row goods"><td>${sku}</td><td><a href="/goods/${sku.toLowerCase()}">${name}</a></td><td class="n">${price}.00</td></tr>`,
  );
  const scripts = Array.from({ length: 120 }, () => `  track("${words(18)}");`);
  const text = `<!doctype html>
<html lang="en"><head><title>Prices</title><style>${Array.from({ length: 200 }, () => `.${one(WORDS)} { margin: ${whole(40)}px }`).join("\n")}</style>
<script>
${scripts.join("\n")}
</script></head>
<body><nav>${WORDS.map((word) => `<a href="/${word}">${word}</a>`).join(" ")}</nav>
<h1>Prices</h1><p>${words(60)}</p>
${Array.from({ length: 180 }, () => `<p>${words(60)}</p>`).join("\n")}
<table><thead><tr><th>sku</th><th>name</th><th>price</th></tr></thead><tbody>
${rows.join("\n")}
</tbody></table>
<p>Prices are valid until 31 March. See the <a href="https://example.com/terms/v${whole(90)}">terms of trade</a>.</p>
</body></html>
`;
  const [, terms] = /<a href="([^"]*)">terms of trade/.exec(text);
  return { bytes: Buffer.from(text), terms, price: `${goods[911].price}.00`, sku: goods[911].sku };
}

async function zip() {
  const { rawZip } = await support("documents.ts");
  const { whole, one, words } = numbers(13);
  const visits = Array.from({ length: 6000 }, () => ({
    page: `/${one(WORDS)}`,
    city: one(CITIES),
    seconds: whole(600),
  }));
  const csv = ["page,city,seconds", ...visits.map((row) => Object.values(row).join(","))].join("\n");
  const entries = Array.from({ length: 30 }, (_, index) => ({
    name: `notes/${one(WORDS)}-${index}.txt`,
    data: Buffer.from(words(400 + whole(800))),
  }));
  entries.push({ name: "data/visits.csv", data: Buffer.from(`${csv}\n`) });
  entries.push({ name: "media/cover.png", data: makePng({ width: 420, height: 300, seed: 13 }) });
  const largest = entries.toSorted((one_, other) => other.data.length - one_.data.length)[0].name;
  return { bytes: Buffer.from(rawZip(entries)), visits, largest };
}

async function tgz() {
  const { whole, one, words } = numbers(14);
  const port = 20_000 + whole(9000);
  const files = Array.from({ length: 120 }, (_, index) => ({
    name: `site/pages/${one(WORDS)}-${index}.md`,
    body: Array.from({ length: 120 }, () => `${words(9)} ${whole(1e9).toString(36)}`).join("\n"),
  }));
  files.push({
    name: "site/config/app.ini",
    body: `[server]\nhost = 0.0.0.0\nport = ${port}\n\n[log]\nlevel = info\n`,
  });
  const tar = await packTar(
    files.map(({ name, body }) => ({ header: { name, size: Buffer.byteLength(body), mtime: new Date(0) }, body })),
  );
  return { bytes: gzipSync(tar), port };
}

const png = () => ({ bytes: makePng({ width: 613, height: 347, seed: 15 }), size: "613 × 347" });

const MAKERS = {
  "sales.csv": sales,
  "stock.csv": stock,
  "events.ndjson": events,
  "orders.json": orders,
  "config.json": config,
  "web.log": log,
  "report.pdf": pdf,
  "handbook.docx": docx,
  "budget.xlsx": xlsx,
  "talk.pptx": pptx,
  "novel.epub": epub,
  "prices.html": html,
  "backup.zip": zip,
  "site.tar.gz": tgz,
  "photo.png": png,
};

const made = new Map();

/** The bytes of a file, and what tasks need to know of it. */
export function fileOf(name) {
  let file = made.get(name);
  if (file === undefined) {
    file = Promise.resolve().then(MAKERS[name]);
    made.set(name, file);
  }
  return file;
}
