/** Writes small PDFs: a page for each text, with an outline if there are titles. */

/** A page: lines of text, and its title in the outline. */
export interface PdfPage {
  readonly lines: readonly string[];
  readonly title?: string;
}

/** A PDF 1.4 (ISO 32000-1) with Helvetica, whose bytes are the same each time. */
export function pdfOf(pages: readonly PdfPage[], title = ""): Uint8Array {
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  const catalog = add("");
  const tree = add("");
  const font = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  const outlines = add("");
  const info = add(`<< /Title (${title}) >>`);
  const numbers = pages.map(({ lines }) => {
    const text = lines.map((line) => `(${line.replaceAll(/[\\()]/g, "\\$&")}) Tj T*`).join("\n");
    const content = `BT /F1 12 Tf 14 TL 72 720 Td\n${text}\nET`;
    const stream = add(`<< /Length ${content.length} >>\nstream\n${content}\nendstream`);
    return add(
      `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 612 792] /Contents ${stream} 0 R /Resources << /Font << /F1 ${font} 0 R >> >> >>`,
    );
  });
  const titled = pages.flatMap((page, at) =>
    page.title === undefined ? [] : [{ title: page.title, page: numbers[at] }],
  );
  const first = objects.length + 1;
  titled.forEach((item, at) => {
    const next = at + 1 < titled.length ? ` /Next ${first + at + 1} 0 R` : "";
    add(`<< /Title (${item.title}) /Parent ${outlines} 0 R /Dest [${item.page} 0 R /Fit]${next} >>`);
  });
  objects[catalog - 1] = `<< /Type /Catalog /Pages ${tree} 0 R /Outlines ${outlines} 0 R >>`;
  objects[tree - 1] = `<< /Type /Pages /Count ${pages.length} /Kids [${numbers.map((n) => `${n} 0 R`).join(" ")}] >>`;
  objects[outlines - 1] =
    titled.length === 0
      ? "<< /Type /Outlines >>"
      : `<< /Type /Outlines /First ${first} 0 R /Last ${first + titled.length - 1} 0 R /Count ${titled.length} >>`;
  let file = "%PDF-1.4\n";
  const offsets = objects.map((body, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const start = file.length;
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  file += `trailer << /Size ${objects.length + 1} /Root ${catalog} 0 R /Info ${info} 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return new TextEncoder().encode(file);
}
