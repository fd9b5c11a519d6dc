/** What viewers are given in tests: files made by hand, and where their bytes are. */
import { expect, vi } from "vitest";
import { page } from "vitest/browser";
import type { ArtifactBytes, ShownArtifact } from "../../../../web/ui/shown.js";
import { configurePdf, type SluiceViewer } from "../../../../web/ui/viewer.js";

configurePdf({
  library: () => import("pdfjs-dist"),
  workerSrc: "/node_modules/pdfjs-dist/build/pdf.worker.min.mjs",
  standardFontDataUrl: "/node_modules/pdfjs-dist/standard_fonts/",
});

/** A file, and how often it was opened, with which ranges. */
export interface Given {
  readonly artifact: ShownArtifact;
  readonly bytes: ArtifactBytes;
  readonly opened: { start: number; end?: number }[];
}

let made = 0;

/** A file of these bytes or this text. */
export function given(
  content: Uint8Array | string | Blob,
  mime_type: string | null,
  filename: string,
  more: Partial<ShownArtifact> = {},
): Given {
  const blob = content instanceof Blob ? content : new Blob([content as BlobPart]);
  const opened: { start: number; end?: number }[] = [];
  made += 1;
  const open: ArtifactBytes["open"] = async (range) => {
    opened.push(range ?? { start: 0 });
    return range === undefined ? blob.stream() : blob.slice(range.start, range.end).stream();
  };
  return {
    artifact: { id: `demo_${made}`, mime_type, filename, size_bytes: blob.size, ...more },
    bytes: { open },
    opened,
  };
}

/** A viewer in the document, alone. */
export async function viewing({ artifact, bytes }: Pick<Given, "artifact" | "bytes">): Promise<SluiceViewer> {
  await page.viewport(1000, 800);
  document.body.replaceChildren();
  const viewer = Object.assign(document.createElement("sluice-viewer"), { artifact, bytes });
  document.body.append(viewer);
  await viewer.updateComplete;
  return viewer;
}

/** An element within a viewer, when it is there. */
export async function part<E extends Element = HTMLElement>(viewer: SluiceViewer, selector: string): Promise<E> {
  return vi.waitFor(
    () => {
      const found = viewer.renderRoot.querySelector<E>(selector);
      if (found === null) throw new Error(`There is no ${selector}.`);
      return found;
    },
    // The first PDF of a run waits for PDF.js itself.
    { timeout: 50_000 },
  );
}

/** Waits until a viewer says that what it shows is there. */
export async function settled(viewer: SluiceViewer): Promise<void> {
  await saying(viewer, / is shown$/);
}

/** Waits until a viewer says something to screen readers. */
export async function saying(viewer: SluiceViewer, what: RegExp): Promise<void> {
  await vi.waitFor(() => expect(viewer.renderRoot.querySelector("[role=status].unseen")?.textContent).toMatch(what), {
    // Long enough for ten megabytes on a busy machine: how long it takes is no test's matter.
    timeout: 50_000,
  });
}

/** What stands above a preview; empty when nothing does. */
export function notice(viewer: SluiceViewer): string {
  return viewer.renderRoot.querySelector(".notice")?.textContent.replace(/\s+/g, " ").trim() ?? "";
}

/** Texts of elements within a viewer. */
export function texts(viewer: SluiceViewer, selector: string): readonly string[] {
  return [...viewer.renderRoot.querySelectorAll(selector)].map((each) => each.textContent);
}

/** A button within a viewer by its text. */
export function buttonOf(viewer: SluiceViewer, text: string | RegExp): HTMLButtonElement {
  const fits = (each: HTMLElement): boolean =>
    typeof text === "string" ? each.textContent.trim() === text : text.test(each.textContent.trim());
  const found = [...viewer.renderRoot.querySelectorAll("button")].find(fits);
  if (found === undefined) throw new Error(`There is no button "${String(text)}".`);
  return found;
}

/** A PNG of that size, half of it transparent. */
export async function png(width: number, height: number): Promise<Blob> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  if (context) context.fillStyle = "#0b62c4";
  context?.fillRect(0, 0, width / 2, height);
  return canvas.convertToBlob({ type: "image/png" });
}

/** Half a second of silence, 8,000 samples a second, 8 bits each. */
export function wav(): Uint8Array {
  const samples = 4000;
  const view = new DataView(new ArrayBuffer(44 + samples));
  const write = (at: number, text: string): void => {
    for (let i = 0; i < text.length; i += 1) view.setUint8(at + i, text.charCodeAt(i));
  };
  write(0, "RIFF");
  view.setUint32(4, 36 + samples, true);
  write(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 8000, true);
  view.setUint32(28, 8000, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  write(36, "data");
  view.setUint32(40, samples, true);
  for (let i = 0; i < samples; i += 1) view.setUint8(44 + i, 128);
  return new Uint8Array(view.buffer);
}

/** A PDF whose pages say `Page 1`, `Page 2`, …; `locked` asks for a password, `padding` is an unused stream of so many bytes. */
export function pdf(pages: number, { locked = false, padding = 0 } = {}): string {
  const kids = Array.from({ length: pages }, (_, i) => `${4 + i * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >> >>",
    `<< /Type /Pages /Count ${pages} /Kids [${kids}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  for (let number = 1; number <= pages; number += 1) {
    const drawing = `BT /F1 24 Tf 72 700 Td (Page ${number}) Tj ET 72 400 200 100 re f`;
    const link =
      "<< /Type /Annot /Subtype /Link /Rect [72 690 200 720] /A << /S /URI /URI (https://example.com/) >> >>";
    objects.push(
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> " +
        `/Contents ${3 + number * 2} 0 R /Annots [${link}] >>`,
      `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
    );
  }
  if (padding > 0) objects.push(`<< /Length ${padding} >>\nstream\n${" ".repeat(padding)}\nendstream`);
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const key = `<${"41".repeat(32)}>`;
  const lock = `/Encrypt << /Filter /Standard /V 1 /R 2 /O ${key} /U ${key} /P -44 >> /ID [<00> <00>] `;
  const trailer = `<< /Size ${objects.length + 1} /Root 1 0 R ${locked ? lock : ""}>>`;
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  return `${text}${table}trailer\n${trailer}\nstartxref\n${text.length}\n%%EOF\n`;
}
