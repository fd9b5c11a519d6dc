/**
 * The tables of `npm run hosts`, in Markdown.
 * @module
 */
import { readFile, writeFile } from "node:fs/promises";
import { CASES } from "./cases.js";
import { LIBRARIES, NOT_RUN } from "./hosts.js";
import type { Seen } from "./seen.js";
import { judge } from "./verdict.js";

/** What was seen of a host. */
export interface HostReport {
  readonly word: string;
  readonly title: string;
  readonly version: string;
  readonly plain: Readonly<Record<string, Seen>>;
  readonly behind: Readonly<Record<string, Seen>>;
}

/** Where the table stands in the documentation. */
const [BEGIN, END] = ["<!-- npm run hosts: begin -->", "<!-- npm run hosts: end -->"];

const SIGNS = { better: "**+**", equal: "=", worse: "**−**" };

const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;

/** The tables: of programs, of libraries, and of hosts that were not run. */
export function writeTables(reports: readonly HostReport[]): string {
  const isLibrary = ({ word }: HostReport): boolean => LIBRARIES.some((host) => host.word === word);
  const groups = [reports.filter((report) => !isLibrary(report)), reports.filter(isLibrary)];
  const tables = groups.filter((group) => group.length > 0).map(writeTable);
  const rest = NOT_RUN.map(({ title, seen }) => line([title, seen]));
  return [...tables, `${line(["not run", "what is known is from"])}${line(["---", "---"])}${rest.join("")}`].join("\n");
}

/** A row for each case, a column for each host: what the model gets plain → behind, and the verdict. */
function writeTable(reports: readonly HostReport[]): string {
  const head = ["case", ...reports.map(({ title, version }) => `${title} ${version}`)];
  const rows = CASES.map((entry) => [
    entry.title,
    ...reports.map(({ plain, behind }) => {
      const [one, other] = [plain[entry.name], behind[entry.name]];
      if (one === undefined || other === undefined) return describe(one ?? other);
      return `${describe(one)} → ${describe(other)} ${SIGNS[judge(entry, one, other).word]}`;
    }),
  ]).filter((cells) => cells.slice(1).some(Boolean));
  const counts = ["better, equal, worse", ...reports.map(countVerdicts)];
  return [head, head.map(() => "---"), ...rows, counts].map(line).join("");
}

/** How many cases of a host have each verdict: `12, 20, 3`. */
function countVerdicts({ plain, behind }: HostReport): string {
  const words = CASES.flatMap((entry) => {
    const [one, other] = [plain[entry.name], behind[entry.name]];
    return one === undefined || other === undefined ? [] : [judge(entry, one, other).word];
  });
  const verdicts = ["better", "equal", "worse"] as const;
  return verdicts.map((word) => words.filter((each) => each === word).length).join(", ");
}

/** Each verdict that is worse, a line each. */
export function listWorse(reports: readonly HostReport[]): readonly string[] {
  return reports.flatMap(({ word, plain, behind }) =>
    CASES.flatMap((entry) => {
      const [one, other] = [plain[entry.name], behind[entry.name]];
      if (one === undefined || other === undefined) return [];
      const verdict = judge(entry, one, other);
      return verdict.word === "worse" ? [`${word} ${entry.name}: ${verdict.reason}`] : [];
    }),
  );
}

/** A result in a few characters: `1 pic, 247`. */
function describe(seen: Seen | undefined): string {
  if (seen === undefined) return "";
  if (seen.failure !== undefined) return "none";
  if (seen.misnamed !== undefined) return "another";
  const { pictures, refused, documents, opened = 0, recordings, chars } = seen;
  const parts = [
    pictures > 0 && `${pictures} pic`,
    refused.length > 0 && `${refused.length} refused`,
    documents > 0 && "file",
    opened > 0 && "file by its tool",
    recordings > 0 && "audio",
    chars.toLocaleString("en"),
  ];
  return parts.filter((part) => part !== false).join(", ");
}

/** Puts tables between the markers of a page. */
export async function writeBetween(file: string, text: string): Promise<void> {
  const page = await readFile(file, "utf8");
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`${file} has no place for the table: ${BEGIN} … ${END}`);
  await writeFile(file, `${page.slice(0, from + BEGIN.length)}\n\n${text}\n${page.slice(to)}`);
}
