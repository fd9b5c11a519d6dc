/**
 * The configuration as a table, for the page that tells of it.
 * @module
 */

/** Stands in a page where the table goes. */
export const MARKER = "<!-- the table of keys -->";

/** A Markdown table of all keys; HTML inside the cells, since Markdown would take `|` and `*` for its own. */
export function configTable(keys) {
  const rows = keys.map(({ key, type, default: standard, effect }) =>
    row([code(key), escaped(type), standard === undefined ? "(required)" : code(standard), escaped(effect)]),
  );
  return [row(["Key", "Type", "Default", "Effect"]), row(["---", "---", "---", "---"]), ...rows].join("\n");
}

const row = (cells) => `| ${cells.join(" | ")} |`;

// Long keys and defaults may break behind a dot, an underscore or a comma.
const code = (text) =>
  `<code>${text
    .split(/(?<=[._,])/)
    .map(escaped)
    .join("<wbr>")}</code>`;

/** Text in which neither HTML nor Markdown finds anything. */
const escaped = (text) => text.replaceAll(/[&<>"|*_`{}[\]\\~@]/g, (c) => `&#${c.codePointAt(0)};`);
