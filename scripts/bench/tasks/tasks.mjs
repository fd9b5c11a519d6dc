/**
 * Thirty tasks: a question over the result of one call of a server, and the answer, worked out of what the file was made of. Where
 * `made` names a file, the task is done when that file has the answer's SHA-256.
 * @module
 */
import { createHash } from "node:crypto";

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const sum = (rows, column) => rows.reduce((total, row) => total + row[column], 0);

/** The row that a task adds, the number that one sets, the text that one replaces. */
export const NEW_ROW = ["P-99999", "lamp", "Oslo", "12", "7.50"];
export const NEW_REPLICAS = 42;
export const OLD_TEXT = "valid until 31 March";
export const NEW_TEXT = "valid until 30 June";

function topThree(rows) {
  const totals = grouped(rows);
  return [...totals]
    .sort(([, one], [, other]) => other - one)
    .slice(0, 3)
    .map(([customer]) => customer)
    .join(" ");
}

function grouped(rows) {
  const totals = new Map();
  for (const { customer, total } of rows) totals.set(customer, (totals.get(customer) ?? 0) + total);
  return totals;
}

const idOf = (line) => /id=(\w+)/.exec(line)[1];

/**
 * @typedef {object} Task
 * @property {string} id
 * @property {string} question What a model is asked; `NEW_PATH` stands for the path of `made`.
 * @property {string} file
 * @property {"filesystem" | "attachments"} server
 * @property {string} tool The first call, which gets the file.
 * @property {(file: any) => string | number} answer
 * @property {string} [made]
 */

const text = { server: "filesystem", tool: "read_text_file" };
const media = { server: "filesystem", tool: "read_media_file" };

/** @type {readonly Task[]} */
export const TASKS = [
  {
    id: "csv-row",
    ...text,
    file: "sales.csv",
    question: "Which id has row 41,233, not counting the header?",
    answer: ({ rows }) => rows[41_232].id,
  },
  {
    id: "csv-sum",
    ...text,
    file: "sales.csv",
    question: "What is the sum of total by region? Answer for the region west.",
    answer: ({ rows }) =>
      sum(
        rows.filter(({ region }) => region === "west"),
        "total",
      ),
  },
  {
    id: "csv-top",
    ...text,
    file: "sales.csv",
    question:
      "Which three customers have the largest sums of total? Their ids, the largest first, with spaces between.",
    answer: ({ rows }) => topThree(rows),
  },
  {
    id: "csv-distinct",
    ...text,
    file: "sales.csv",
    question: "How many different customers bought a lamp in the region east in quantities above 18?",
    answer: ({ rows }) =>
      new Set(
        rows
          .filter(({ product, region, quantity }) => product === "lamp" && region === "east" && quantity > 18)
          .map(({ customer }) => customer),
      ).size,
  },
  {
    id: "csv-quoted",
    ...text,
    file: "sales.csv",
    question: "What is the note of the sale S-30417, word for word?",
    answer: ({ rows }) => rows.find(({ id }) => id === "S-30417").note,
  },
  {
    id: "ndjson-count",
    ...text,
    file: "events.ndjson",
    question: "How many requests to billing have the status 500?",
    answer: ({ rows }) => rows.filter(({ service, status }) => service === "billing" && status === 500).length,
  },
  {
    id: "json-path",
    ...text,
    file: "config.json",
    question: "After how many milliseconds does the service whose name ends with -173 retry first (first_ms)?",
    answer: ({ value, name }) => value.services[name].retry.wait.first_ms,
  },
  {
    id: "json-sum",
    ...text,
    file: "orders.json",
    question: "What is the total of all open orders from Riga?",
    answer: ({ orders }) =>
      sum(
        orders.filter(({ city, status }) => city === "Riga" && status === "open"),
        "total",
      ),
  },
  {
    id: "json-join",
    ...text,
    file: "orders.json",
    question: "Which customer's id has no order?",
    answer: ({ without }) => without,
  },
  {
    id: "log-odd",
    ...text,
    file: "web.log",
    question: "One line is neither INFO nor ERROR. How many hours does it name?",
    answer: ({ lines }) => / (\d+) hours/.exec(lines.find((line) => line.endsWith("hours")))[1],
  },
  {
    id: "log-before",
    ...text,
    file: "web.log",
    question: "Which ids (id=) have the five lines before the first ERROR, and that line? With spaces between.",
    answer: ({ lines }) => {
      const first = lines.findIndex((line) => line.includes(" ERROR "));
      return lines
        .slice(first - 5, first + 1)
        .map(idOf)
        .join(" ");
    },
  },
  {
    id: "log-count",
    ...text,
    file: "web.log",
    question: "How many requests were answered with status=503?",
    answer: ({ lines }) => lines.filter((line) => line.includes("status=503 ")).length,
  },
  {
    id: "pdf-page",
    ...media,
    file: "report.pdf",
    question: "Who are the auditors of the Lisbon branch, as page 7 has it?",
    answer: () => "Marlowe and Sons",
  },
  {
    id: "pdf-outline",
    ...media,
    file: "report.pdf",
    question: "On which page does the chapter Suppliers begin?",
    answer: ({ start }) => start,
  },
  {
    id: "pdf-table",
    ...media,
    file: "report.pdf",
    question: "How many refunds does the table of cities have for Riga?",
    answer: ({ table }) => table.find(({ city }) => city === "Riga").refunds,
  },
  {
    id: "docx-heading",
    ...media,
    file: "handbook.docx",
    question: "How many days ahead do managers give notice, by the chapter Notice periods?",
    answer: ({ days }) => days,
  },
  {
    id: "xlsx-date",
    ...media,
    file: "budget.xlsx",
    question: "Since when has N1834 been there, by the sheet Staff? As YYYY-MM-DD.",
    answer: ({ since }) => since,
  },
  {
    id: "xlsx-sum",
    ...media,
    file: "budget.xlsx",
    question: "What is the sum of the amounts for Bern on the second sheet?",
    answer: ({ costs }) =>
      sum(
        costs.filter(({ city }) => city === "Bern"),
        "amount",
      ),
  },
  {
    id: "pptx-note",
    ...media,
    file: "talk.pptx",
    question: "At which gate does the note of slide 29 say to meet the guests? The number.",
    answer: ({ code }) => code.replace("gate ", ""),
  },
  {
    id: "epub-chapter",
    ...media,
    file: "novel.epub",
    question: "What is the lighthouse keeper's name?",
    answer: ({ keeper }) => keeper,
  },
  {
    id: "html-link",
    ...text,
    file: "prices.html",
    question: "To which address does the link “terms of trade” lead?",
    answer: ({ terms }) => terms,
  },
  {
    id: "html-cell",
    ...text,
    file: "prices.html",
    question: "What does P-1911 cost, as the table writes it?",
    answer: ({ price }) => price,
  },
  {
    id: "zip-largest",
    ...media,
    file: "backup.zip",
    question: "Which file in the archive is the largest? Its path.",
    answer: ({ largest }) => largest,
  },
  {
    id: "zip-csv",
    ...media,
    file: "backup.zip",
    question: "How many seconds do all visits from Rome have together, by data/visits.csv in the archive?",
    answer: ({ visits }) =>
      sum(
        visits.filter(({ city }) => city === "Rome"),
        "seconds",
      ),
  },
  {
    id: "tar-config",
    ...media,
    file: "site.tar.gz",
    question: "Which port does site/config/app.ini in the archive set?",
    answer: ({ port }) => port,
  },
  {
    id: "image-size",
    ...media,
    file: "photo.png",
    question: "How many pixels wide and high is the picture? As “W × H”.",
    answer: ({ size }) => size,
  },
  {
    id: "edit-row",
    ...text,
    file: "stock.csv",
    made: "stock-new.csv",
    question: `Write the file with one row more at its end, ${NEW_ROW.join(",")}, to NEW_PATH.`,
    answer: ({ bytes }) => sha256(`${bytes}${NEW_ROW.join(",")}\n`),
  },
  {
    id: "edit-json",
    ...text,
    file: "config.json",
    made: "config-new.json",
    question: `Write the file to NEW_PATH, with ${NEW_REPLICAS} replicas for the service whose name ends with -211, all else as it is.`,
    answer: ({ value, edited }) => {
      const services = { ...value.services, [edited]: { ...value.services[edited], replicas: NEW_REPLICAS } };
      return sha256(`${JSON.stringify({ ...value, services }, null, 2)}\n`);
    },
  },
  {
    id: "edit-html",
    ...text,
    file: "prices.html",
    made: "prices-new.html",
    question: `Write the file to NEW_PATH, with “${NEW_TEXT}” in place of “${OLD_TEXT}”.`,
    answer: ({ bytes }) => sha256(`${bytes}`.replace(OLD_TEXT, NEW_TEXT)),
  },
  {
    id: "pdf-copy",
    server: "attachments",
    tool: "get_attachment",
    file: "report.pdf",
    made: "added-report.pdf",
    question: "Add the attachment report.pdf to the page reports, under its name.",
    answer: ({ sha256: digest }) => digest,
  },
];
