/**
 * One record of CSV (RFC 4180): its fields where they stand, and fields written.
 * @module
 */

/** A field, and where it stands in the record's text. */
export interface CsvField {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
}

/** Splits a record into its fields. A quote inside an unquoted field is an ordinary character. */
export function fieldsOf(record: string, delimiter: string): readonly CsvField[] {
  const fields: CsvField[] = [];
  for (let start = 0; ;) {
    const isQuoted = record.startsWith('"', start);
    const closing = isQuoted ? closingQuote(record, start) : start;
    const next = record.indexOf(delimiter, closing);
    const end = next < 0 ? record.length : next;
    const value = isQuoted
      ? record.slice(start + 1, closing).replaceAll('""', '"') + record.slice(closing + 1, end)
      : record.slice(start, end);
    fields.push({ value, start, end, isQuoted });
    if (next < 0) return fields;
    start = end + delimiter.length;
  }
}

/** The offset of the quote that ends a field, or the record's length. */
function closingQuote(record: string, start: number): number {
  let quote = record.indexOf('"', start + 1);
  while (quote >= 0 && record.startsWith('"', quote + 1)) quote = record.indexOf('"', quote + 2);
  return quote < 0 ? record.length : quote;
}

/** Writes a field, in quotes where it needs them. */
export function writtenField(value: string, delimiter: string, isQuoted: boolean): string {
  const needsQuotes = isQuoted || value.includes(delimiter) || /["\r\n]|^\s|\s$/.test(value);
  return needsQuotes ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Writes a record. One that would be an empty line, which is none, gets quotes. */
export function writtenRecord(values: readonly string[], delimiter: string, isQuoted: boolean): string {
  const record = values.map((value) => writtenField(value, delimiter, isQuoted)).join(delimiter);
  return record === "" ? '""' : record;
}
