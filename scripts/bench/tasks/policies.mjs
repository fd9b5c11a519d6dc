/**
 * The best way we know to each task's answer, as a script that knows the question and what earlier answers told: `context` reads the
 * whole result, and is absent where bytes of a packed format are all there is to read; `grep` has the tools of `ResultFile`, and reads
 * all where it is absent; `sluice` has the tools of Sluice, and `call` for the server's own.
 * @module
 */
import { NEW_REPLICAS, NEW_ROW, NEW_TEXT, OLD_TEXT } from "./tasks.mjs";

/** The first artifact that a text names. */
export const uriIn = (text) => /artifact:\/\/\w+/.exec(text)?.[0];

/** What an answer of Sluice has between its marks. */
const dataOf = (text) => /^--- data \w+ ---\n([^]*)\n--- end \w+ ---$/m.exec(text)?.[1] ?? "";

/** The rows below the header of an answer to a query. */
const rowsIn = (text) => dataOf(text).split("\n").slice(1);

/** The cells of a line of CSV. */
const cells = (line) =>
  Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g), ([, quoted, bare]) =>
    quoted === undefined ? bare : quoted.replaceAll('""', '"'),
  );

const linesOf = (text) => text.trimEnd().split("\n");
const table = (text) => linesOf(text).slice(1).map(cells);
const first = (pattern, text) => pattern.exec(text)?.[1];
const ids = (text) => Array.from(text.matchAll(/\bid=(\w+)/g), ([, id]) => id).join(" ");
const sum = (values) => values.reduce((total, value) => total + Number(value), 0);

function largest(rows, key, value, count) {
  const totals = new Map();
  for (const row of rows) totals.set(row[key], (totals.get(row[key]) ?? 0) + Number(row[value]));
  return [...totals]
    .sort(([, one], [, other]) => other - one)
    .slice(0, count)
    .map(([name]) => name)
    .join(" ");
}

/** The first value that one list has and the other has not. */
const missing = (all, some) => all.find((value) => !some.includes(value));

/** Hands a text on, to be written as a file. */
const write = (content, { call, made }) => call("write_file", { path: made, content });

/** Hands an artifact on as text, as the answer of an edit says. */
const writeArtifact = (uri, { call, made }) => call("write_file", { path: made, content: `${uri}?as=text` });

const openInRiga = /\{[^{}]*"city":"Riga","status":"open"[^{}]*\}/g;

export const POLICIES = {
  "csv-row": {
    context: (text) => table(text)[41_232][0],
    grep: async (file) => cells((await file.read(41_234, 41_234))[0])[0],
    sluice: async ({ read }) => cells(rowsIn(await read({ rows: "41233" }))[0])[0],
  },
  "csv-sum": {
    context: (text) =>
      sum(
        table(text)
          .filter((row) => row[2] === "west")
          .map((row) => row[6]),
      ),
    sluice: async ({ read }) =>
      first(/^west,(\d+)$/m, await read({ query: "SELECT region, SUM(total) FROM rows GROUP BY region" })),
  },
  "csv-top": {
    context: (text) => largest(table(text), 4, 6, 3),
    sluice: async ({ read }) => {
      const query = "SELECT customer, SUM(total) AS sum FROM rows GROUP BY customer ORDER BY sum DESC LIMIT 3";
      return rowsIn(await read({ query }))
        .map((row) => cells(row)[0])
        .join(" ");
    },
  },
  "csv-distinct": {
    context: (text) =>
      new Set(
        table(text)
          .filter((row) => row[2] === "east" && row[3] === "lamp" && Number(row[5]) > 18)
          .map((row) => row[4]),
      ).size,
    grep: async (file) => {
      const found = await file.grep("east,lamp,K\\d+,(19|20),", { only: true });
      return new Set(linesOf(found).map((match) => match.split(",")[2])).size;
    },
    sluice: async ({ read }) => {
      const where = "region = 'east' AND product = 'lamp' AND quantity > 18";
      return rowsIn(await read({ query: `SELECT COUNT(DISTINCT customer) FROM rows WHERE ${where}` }))[0];
    },
  },
  "csv-quoted": {
    context: (text) => table(text).find(([id]) => id === "S-30417")[7],
    grep: async (file) => cells((await file.grep("^S-30417,")).replace(/^\d+:/, ""))[7],
    sluice: async ({ read }) => rowsIn(await read({ query: "SELECT note FROM rows WHERE id = 'S-30417'" }))[0],
  },
  "ndjson-count": {
    context: (text) =>
      linesOf(text)
        .map((line) => JSON.parse(line))
        .filter(({ service, status }) => service === "billing" && status === 500).length,
    grep: (file) => file.grep('"service":"billing","status":500', { count: true }),
    sluice: async ({ read }) =>
      rowsIn(await read({ query: "SELECT COUNT(*) FROM rows WHERE service = 'billing' AND status = 500" }))[0],
  },
  "json-path": {
    context: (text) => {
      const { services } = JSON.parse(text);
      return services[Object.keys(services).find((name) => name.endsWith("-173"))].retry.wait.first_ms;
    },
    grep: async (file) => {
      const line = Number.parseInt(await file.grep('-173": '), 10);
      return first(/"first_ms": (\d+)/, (await file.read(line, line + 20)).join("\n"));
    },
    sluice: async ({ read }) => {
      const name = first(/"(\w+-173)"/, await read({ search: "-173" }));
      return dataOf(await read({ pointer: `/services/${name}/retry/wait/first_ms` })).trim();
    },
  },
  "json-sum": {
    context: (text) =>
      sum(
        JSON.parse(text)
          .orders.filter(({ city, status }) => city === "Riga" && status === "open")
          .map(({ total }) => total),
      ),
    grep: async (file) => {
      const found = await file.grep(openInRiga.source, { only: true });
      return sum(linesOf(found).map((order) => JSON.parse(order).total));
    },
    sluice: async ({ read }) => {
      const query = "SELECT SUM(total) FROM rows WHERE city = 'Riga' AND status = 'open'";
      return rowsIn(await read({ pointer: "/orders", query }))[0];
    },
  },
  "json-join": {
    context: (text) => {
      const { customers, orders } = JSON.parse(text);
      const buyers = new Set(orders.map(({ customer }) => customer));
      return customers.find(({ id }) => !buyers.has(id)).id;
    },
    grep: async (file) => {
      const all = linesOf(await file.grep('"id":"C\\d+"', { only: true })).map((match) => first(/(C\d+)/, match));
      const some = linesOf(await file.grep('"customer":"C\\d+"', { only: true, first: 8000 }));
      return missing(
        all,
        some.map((match) => first(/(C\d+)/, match)),
      );
    },
    sluice: async ({ read }) => {
      const query = "SELECT id FROM customers WHERE id NOT IN (SELECT customer FROM orders)";
      return rowsIn(await read({ query }))[0];
    },
  },
  "log-odd": {
    context: (text) => first(/ (\d+) hours$/m, text),
    grep: async (file) => first(/ (\d+) hours/, await file.grep(" (INFO|ERROR) ", { invert: true })),
    sluice: async ({ read }) => {
      const query = "SELECT line FROM rows WHERE line NOT LIKE '% INFO %' AND line NOT LIKE '% ERROR %'";
      return first(/ (\d+) hours/, await read({ query }));
    },
  },
  "log-before": {
    context: (text) => {
      const lines = text.split("\n");
      const at = lines.findIndex((line) => line.includes(" ERROR "));
      return ids(lines.slice(at - 5, at + 1).join("\n"));
    },
    grep: async (file) => ids(await file.grep(" ERROR ", { before: 5, first: 1 })),
    sluice: async ({ read }) => {
      const line = Number(first(/^line (\d+),/m, await read({ search: " ERROR ", limit: 400 })));
      return ids(dataOf(await read({ lines: `${line - 5}-${line}` })));
    },
  },
  "log-count": {
    context: (text) => text.split("status=503 ").length - 1,
    grep: (file) => file.grep("status=503 ", { count: true }),
    sluice: async ({ read }) =>
      first(/of ([\d,]+) places/, await read({ search: "status=503 ", limit: 200 }))?.replaceAll(",", ""),
  },
  "pdf-page": {
    sluice: async ({ read }) => first(/Lisbon branch are (.+?)\./, await read({ pages: "7" })),
  },
  "pdf-outline": {
    sluice: async ({ read }) => first(/Suppliers\W+(?:page |p\. ?)?(\d+)/, await read({})),
  },
  "pdf-table": {
    sluice: async ({ read }) => {
      const line = Number(first(/line (\d+): City/, await read({ search: "Refunds" })));
      return first(/^Riga \d+ (\d+)$/m, await read({ lines: `${line}-${line + 8}` }));
    },
  },
  "docx-heading": {
    sluice: async ({ read }) => {
      const line = Number(first(/line (\d+): # Notice/, await read({ search: "Notice periods" })));
      return first(/notice (\d+) days/, await read({ lines: `${line}-${line + 4}` }));
    },
  },
  "xlsx-date": {
    sluice: async ({ read }) => first(/N1834\b.*?(\d{4}-\d\d-\d\d)/, await read({ sheet: "Staff", search: "N1834" })),
  },
  "xlsx-sum": {
    sluice: async ({ read }) => {
      // Below the letters of the columns, and behind the number of the row.
      const [, , city, amount] = dataOf(await read({ sheet: "2", rows: "1" }))
        .split("\n")[1]
        .split(",");
      const query = `SELECT SUM(${amount}) FROM rows WHERE ${city} = 'Bern'`;
      return rowsIn(await read({ sheet: "2", query }))[0];
    },
  },
  "pptx-note": {
    sluice: async ({ read }) => first(/gate (\d+)/, await read({ pages: "29" })),
  },
  "epub-chapter": {
    sluice: async ({ read }) => first(/keeper was called ([\w ]+)\./, await read({ search: "lighthouse keeper" })),
  },
  "html-link": {
    context: (text) => first(/<a href="([^"]*)">terms of trade/, text),
    grep: async (file) => first(/<a href="([^"]*)">terms of trade/, await file.grep("terms of trade")),
    sluice: async ({ read }) => first(/terms of trade\t(\S+)/, await read({ as: "links", search: "terms of trade" })),
  },
  "html-cell": {
    context: (text) => first(/<td>P-1911<.*<td class="n">([\d.]+)/, text),
    grep: async (file) => first(/<td>P-1911<.*<td class="n">([\d.]+)/, await file.grep("P-1911")),
    sluice: async ({ read }) => first(/P-1911 \| \w+ \| ([\d.]+)/, await read({ as: "text", search: "P-1911" })),
  },
  "zip-largest": {
    sluice: async ({ read }) => {
      const [path, bytes] = dataOf(await read({ rows: "1" }))
        .split("\n")[0]
        .split(",");
      return rowsIn(await read({ query: `SELECT ${path} FROM rows ORDER BY ${bytes} DESC LIMIT 1` }))[0];
    },
  },
  "zip-csv": {
    sluice: async ({ read }) => {
      const entry = "data/visits.csv";
      const [, city, seconds] = dataOf(await read({ entry, rows: "1" }))
        .split("\n")[0]
        .split(",");
      const query = `SELECT SUM(${seconds}) FROM rows WHERE ${city} = 'Rome'`;
      return rowsIn(await read({ entry, query }))[0];
    },
  },
  "tar-config": {
    sluice: async ({ read }) => first(/port = (\d+)/, await read({ entry: "site/config/app.ini", search: "port" })),
  },
  "image-size": {
    sluice: ({ result }) => first(/(\d+ × \d+)/, result),
  },
  "edit-row": {
    context: (text, end) => write(`${text}${NEW_ROW.join(",")}\n`, end),
    sluice: async ({ edit, ...end }) => writeArtifact(uriIn(await edit({ add_rows: [NEW_ROW] })), end),
  },
  "edit-json": {
    context: (text, end) => write(text.replace(/(-211": \{[^]*?"replicas": )\d+/, `$1${NEW_REPLICAS}`), end),
    sluice: async ({ read, edit, ...end }) => {
      const name = first(/"(\w+-211)"/, await read({ search: "-211" }));
      const patch = [{ op: "replace", path: `/services/${name}/replicas`, value: NEW_REPLICAS }];
      return writeArtifact(uriIn(await edit({ patch })), end);
    },
  },
  "edit-html": {
    context: (text, end) => write(text.replace(OLD_TEXT, NEW_TEXT), end),
    sluice: async ({ edit, ...end }) =>
      writeArtifact(uriIn(await edit({ old_string: OLD_TEXT, new_string: NEW_TEXT })), end),
  },
  "pdf-copy": {
    context: (text, { call }) => {
      const { blob } = JSON.parse(text).resource;
      return call("add_attachment", { page: "reports", name: "report.pdf", data: blob });
    },
    // The base64 is one line, which file tools cut.
    grep: () => null,
    sluice: ({ uri, call }) => call("add_attachment", { page: "reports", name: "report.pdf", data: uri }),
  },
};
