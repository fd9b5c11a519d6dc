/**
 * Documents, workbooks, slides and PDFs.
 * @module
 */
import { LONG_TEXT } from "./material.mjs";

const WRITER = [
  "libreoffice-writer-nogui",
  "libreoffice-calc-nogui",
  "libreoffice-impress-nogui",
  "libreoffice-draw-nogui",
];

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "LibreOffice",
    debian: WRITER,
    shell: `${LONG_TEXT}
cat > lo.html <<X
<html><head><title>Yearly report</title></head><body>$(for i in $(seq 60); do echo "<p>$(head -c 600 long.txt)</p>"; done)</body></html>
X
printf 'a,b,c\\n1,2,3\\n4,5,6\\n7,8,9\\n' > lo.csv
convert_to() { soffice --headless -env:UserInstallation=file://$PWD/.lo --convert-to "$1" --outdir out-$2 "$3" >/dev/null 2>&1; }
for f in odt docx doc rtf pdf fodt; do convert_to $f w lo.html; cp out-w/lo.$f lo-report.$f || true; done
# HTML opens in Writer/Web: a document of Writer's own makes the rest.
for f in docx:"MS Word 2007 XML" doc:"MS Word 97" rtf pdf; do convert_to "$f" v lo-report.odt; e=\${f%%:*}; cp out-v/lo-report.$e lo-report.$e || true; done
for f in ods xlsx xls pdf; do convert_to $f c lo.csv; cp out-c/lo.$f lo-table.$f || true; done
rm -rf out-*`,
    files: {
      "lo-report.odt": ["OpenDocument text", / pages/, / words/],
      "lo-report.docx": ["Word document", / pages/, / words/],
      "lo-report.doc": ["Word document", / pages/],
      "lo-report.rtf": ["RTF document", /Yearly report|pages/],
      "lo-report.pdf": ["PDF", / pages/, "Yearly report"],
      "lo-table.ods": ["OpenDocument spreadsheet", "1 sheet"],
      "lo-table.xlsx": ["Excel workbook", /1 sheet/, '"lo"', "4 × 3"],
      "lo-table.xls": ["Excel workbook", '"lo"'],
      "lo-table.pdf": ["PDF", "1 page"],
    },
  },
  {
    maker: "openpyxl",
    debian: ["python3-openpyxl"],
    python: `
import openpyxl
book = openpyxl.Workbook()
book.active.title = "Sales"
for row in range(120): book.active.append([row, row * 2, "x", 1.5])
other = book.create_sheet("Costs & more")
other.append(["a", "b"])
book.properties.title = "Budget"
book.save("openpyxl.xlsx")
`,
    files: { "openpyxl.xlsx": ["Excel workbook", "2 sheets", '"Sales"', "120 × 4", "Costs & more"] },
  },
  {
    maker: "XlsxWriter",
    debian: ["python3-xlsxwriter"],
    python: `
import xlsxwriter
book = xlsxwriter.Workbook("xlsxwriter.xlsx")
sheet = book.add_worksheet("Data")
for row in range(50):
    for column in range(3): sheet.write(row, column, row * column)
book.close()
book = xlsxwriter.Workbook("constant.xlsx", {"constant_memory": True})
for name in ["One", "Two", "Three"]:
    sheet = book.add_worksheet(name)
    for row in range(1000): sheet.write(row, 0, row)
book.close()
`,
    files: {
      "xlsxwriter.xlsx": ["Excel workbook", "1 sheet", '"Data"', "50 × 3"],
      "constant.xlsx": ["Excel workbook", "3 sheets", '"One"', '"Three"'],
    },
  },
  {
    maker: "xlwt",
    debian: ["python3-xlwt"],
    python: `
import xlwt
book = xlwt.Workbook()
for name in ["Alpha", "Beta"]:
    sheet = book.add_sheet(name)
    for row in range(30): sheet.write(row, 0, row)
book.save("xlwt.xls")
`,
    files: { "xlwt.xls": ["Excel workbook", "2 sheets", '"Alpha"', '"Beta"'] },
  },
  {
    maker: "python-docx",
    debian: ["python3-docx"],
    python: `
import docx
document = docx.Document()
document.core_properties.title = "Minutes of the meeting"
for n in range(20): document.add_paragraph("Some words in a paragraph. " * 20)
document.save("python-docx.docx")
`,
    files: { "python-docx.docx": ["Word document", "Minutes of the meeting"] },
  },
  {
    maker: "odfpy",
    debian: ["python3-odf"],
    python: `
from odf.opendocument import OpenDocumentText, OpenDocumentSpreadsheet
from odf.text import P
from odf.table import Table, TableRow, TableCell
from odf import dc
document = OpenDocumentText()
document.meta.addElement(dc.Title(text="A letter"))
document.text.addElement(P(text="Hello"))
document.save("odfpy.odt")
book = OpenDocumentSpreadsheet()
for name in ["North", "South"]:
    table = Table(name=name)
    row = TableRow(); row.addElement(TableCell()); table.addElement(row)
    book.spreadsheet.addElement(table)
book.save("odfpy.ods")
`,
    files: {
      "odfpy.odt": ["OpenDocument text", "A letter"],
      "odfpy.ods": ["OpenDocument spreadsheet", "2 sheets", '"North"'],
    },
  },
  {
    maker: "pandoc",
    debian: ["pandoc"],
    shell: `printf '%% The title\\n%% Someone\\n\\n# One\\n\\nText.\\n\\n# Two\\n\\nText.\\n\\n# Three\\n\\nMore.\\n' > p.md
pandoc p.md -o pandoc.docx; pandoc p.md -o pandoc.odt; pandoc p.md -o pandoc.pptx; pandoc p.md -o pandoc.epub; pandoc -s p.md -o pandoc.rtf; pandoc -s p.md -t fb2 -o pandoc.fb2; pandoc -s p.md -o pandoc.ipynb; pandoc -s p.md -t jats -o pandoc.jats.xml; pandoc -s p.md -t tei -o pandoc.tei.xml; pandoc -s p.md -t docbook -o pandoc.dbk`,
    files: {
      "pandoc.docx": ["Word document", "The title"],
      "pandoc.odt": ["OpenDocument text", "The title"],
      "pandoc.pptx": ["PowerPoint presentation", "4 slides"],
      "pandoc.epub": ["EPUB book", "The title", /sections/],
      "pandoc.rtf": ["RTF document"],
      "pandoc.fb2": ["FictionBook", "The title"],
      "pandoc.ipynb": ["Jupyter notebook", /cells?/],
      "pandoc.tei.xml": ["TEI"],
      "pandoc.dbk": ["DocBook"],
    },
  },
  {
    maker: "cairo",
    debian: ["python3-cairo"],
    python: `
import cairo
surface = cairo.PDFSurface("cairo.pdf", 300, 200)
surface.set_metadata(cairo.PDFMetadata.TITLE, "Drawn by cairo")
context = cairo.Context(surface)
for page in range(7):
    context.move_to(10, 10); context.line_to(100, 100); context.stroke(); context.show_page()
surface.finish()
`,
    files: { "cairo.pdf": ["PDF", "7 pages", "Drawn by cairo"] },
  },
  {
    maker: "ReportLab",
    debian: ["python3-reportlab"],
    python: `
from reportlab.pdfgen import canvas
page = canvas.Canvas("reportlab.pdf")
page.setTitle("R\\u00e9sum\\u00e9 \\u2014 two")
for n in range(40):
    page.drawString(100, 100, "Page %d" % n); page.showPage()
page.save()
page = canvas.Canvas("form.pdf")
page.setTitle("A form")
page.acroForm.textfield(name="a", x=10, y=10); page.showPage(); page.save()
`,
    files: {
      "reportlab.pdf": ["PDF", "40 pages", "Résumé — two"],
      "form.pdf": ["PDF", "1 page", "form"],
    },
  },
  {
    maker: "Ghostscript",
    debian: ["ghostscript"],
    shell: `cat > g.ps <<'X'
%!PS-Adobe-3.0
%%Title: Plotted
%%Pages: 3
%%EndComments
/Helvetica findfont 12 scalefont setfont
1 1 3 { pop 100 100 moveto (page) show showpage } for
%%EOF
X
cp g.ps ghostscript.ps; gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -sOutputFile=ghostscript.pdf g.ps
gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -dPDFA=2 -dPDFACompatibilityPolicy=1 -sOutputFile=ghostscript-a.pdf g.ps
gs -q -dBATCH -dNOPAUSE -sDEVICE=xpswrite -sOutputFile=ghostscript.xps g.ps || true`,
    files: {
      "ghostscript.pdf": ["PDF", "3 pages", "Plotted"],
      "ghostscript-a.pdf": ["PDF", "3 pages"],
      "ghostscript.ps": ["PostScript document", "3 pages", "Plotted"],
    },
  },
  {
    maker: "qpdf",
    debian: ["qpdf", "python3-reportlab"],
    shell: `python3 - <<'X'
from reportlab.pdfgen import canvas
page = canvas.Canvas("source.pdf")
page.setTitle("Many pages")
for n in range(300):
    page.drawString(100, 100, "Page %d" % n); page.showPage()
page.save()
X
qpdf source.pdf --linearize qpdf-linear.pdf; qpdf source.pdf --object-streams=generate qpdf-objects.pdf
qpdf source.pdf --linearize --object-streams=generate qpdf-both.pdf
qpdf --encrypt a b 256 -- source.pdf qpdf-locked.pdf; qpdf source.pdf --add-attachment g.ps -- qpdf-attached.pdf || cp source.pdf qpdf-attached.pdf`,
    files: {
      "qpdf-linear.pdf": ["PDF", "300 pages", "Many pages"],
      "qpdf-objects.pdf": ["PDF", "300 pages", "Many pages"],
      "qpdf-both.pdf": ["PDF", "300 pages", "Many pages"],
      "qpdf-locked.pdf": ["PDF", "encrypted"],
      "qpdf-attached.pdf": ["PDF", "300 pages", "Many pages", "1 attachment"],
    },
  },
  {
    maker: "pikepdf",
    debian: ["python3-pikepdf"],
    python: `
import pikepdf
pdf = pikepdf.new()
for n in range(5): pdf.add_blank_page()
with pdf.open_metadata() as meta: meta["dc:title"] = "Told in XMP & more"
pdf.save("pikepdf.pdf", object_stream_mode=pikepdf.ObjectStreamMode.generate)
`,
    files: { "pikepdf.pdf": ["PDF", "5 pages", "Told in XMP & more"] },
  },
  {
    maker: "GraphicsMagick",
    debian: ["graphicsmagick"],
    shell: `gm convert -size 300x400 xc:white xc:gray -density 72 -compress jpeg scan.pdf`,
    files: { "scan.pdf": ["PDF", "2 pages"] },
  },
  {
    maker: "pdf-lib",
    npm: ["pdf-lib@1.17.1"],
    node: `
import { writeFileSync } from "node:fs";
import { PDFDocument } from "pdf-lib";
const pdf = await PDFDocument.create();
pdf.setTitle("Made with pdf-lib");
for (let n = 0; n < 12; n++) pdf.addPage([200, 300]).drawRectangle({ x: 1, y: 2, width: 30, height: 40 });
writeFileSync("pdf-lib.pdf", await pdf.save());
writeFileSync("pdf-lib-plain.pdf", await pdf.save({ useObjectStreams: false }));
`,
    files: {
      "pdf-lib.pdf": ["PDF", "12 pages", "Made with pdf-lib"],
      "pdf-lib-plain.pdf": ["PDF", "12 pages", "Made with pdf-lib"],
    },
  },
  {
    maker: "PDFKit",
    npm: ["pdfkit@0.20.2"],
    node: `
import { createWriteStream } from "node:fs";
import PDFDocument from "pdfkit";
for (const [name, pages] of [["pdfkit.pdf", 3], ["pdfkit-long.pdf", 1200]]) {
  const pdf = new PDFDocument({ info: { Title: "Written by PDFKit" } });
  const out = createWriteStream(name);
  pdf.pipe(out);
  for (let n = 1; n < pages; n++) pdf.text("Page " + n + " " + "word ".repeat(50)).addPage();
  pdf.end();
  await new Promise((resolve) => out.on("finish", resolve));
}
`,
    files: {
      "pdfkit.pdf": ["PDF", "3 pages", "Written by PDFKit"],
      "pdfkit-long.pdf": ["PDF", "1,200 pages", "Written by PDFKit"],
    },
  },
  {
    maker: "ExcelJS",
    npm: ["exceljs@4.4.0"],
    node: `
import ExcelJS from "exceljs";
const book = new ExcelJS.Workbook();
book.title = "Stock";
for (const name of ["In", "Out"]) {
  const sheet = book.addWorksheet(name);
  for (let n = 0; n < 40; n++) sheet.addRow([n, n * 2, "text"]);
}
await book.xlsx.writeFile("exceljs.xlsx");
`,
    files: { "exceljs.xlsx": ["Excel workbook", "2 sheets", '"In"', '"Out"', "40 × 3"] },
  },
  {
    maker: "docx",
    npm: ["docx@9.15.2"],
    node: `
import { writeFileSync } from "node:fs";
import { Document, Packer, Paragraph } from "docx";
const document = new Document({ title: "Contract", sections: [{ children: [new Paragraph("Hello")] }] });
writeFileSync("npm-docx.docx", await Packer.toBuffer(document));
`,
    files: { "npm-docx.docx": ["Word document", "Contract"] },
  },
  {
    maker: "PptxGenJS",
    npm: ["pptxgenjs@4.0.1"],
    node: `
import PptxGen from "pptxgenjs";
const show = new (PptxGen.default ?? PptxGen)();
show.title = "Quarter three";
for (let n = 0; n < 6; n++) show.addSlide().addText("Slide " + n, { x: 1, y: 1 });
await show.writeFile({ fileName: "pptxgenjs.pptx" });
`,
    files: { "pptxgenjs.pptx": ["PowerPoint presentation", "6 slides", "Quarter three"] },
  },
  {
    maker: "SheetJS",
    npm: ["xlsx@0.18.5"],
    node: `
import xlsx from "xlsx";
const book = xlsx.utils.book_new();
xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet([[1, 2], [3, 4], [5, 6]]), "First");
xlsx.utils.book_append_sheet(book, xlsx.utils.aoa_to_sheet([[1]]), "Second");
for (const type of ["xlsx", "xlsb", "xls", "ods"]) xlsx.writeFile(book, "sheetjs." + type, { bookType: type === "xls" ? "biff8" : type });
`,
    files: {
      "sheetjs.xlsx": ["Excel workbook", "2 sheets", '"First"', "3 × 2"],
      "sheetjs.xlsb": ["Excel workbook", "2 sheets"],
      "sheetjs.xls": ["Excel workbook", "2 sheets", '"First"'],
      "sheetjs.ods": ["OpenDocument spreadsheet", "2 sheets", '"First"'],
    },
  },
  {
    maker: "Gnumeric",
    debian: ["gnumeric"],
    shell: `printf 'a,b,c\\n1,2,3\\n4,5,6\\n' > gn.csv
for e in gnumeric xlsx ods; do ssconvert -O "" gn.csv gn-table.$e 2>/dev/null; done; ssconvert -T Gnumeric_Excel:excel_biff8 gn.csv gn-table.xls 2>/dev/null`,
    files: {
      "gn-table.gnumeric": [/Gnumeric/],
      "gn-table.xlsx": ["Excel workbook", "1 sheet", '"gn.csv"', "3 × 3"],
      "gn-table.ods": ["OpenDocument spreadsheet", "1 sheet", '"gn.csv"'],
      "gn-table.xls": ["Excel workbook", "1 sheet", '"gn.csv"'],
    },
  },
  {
    maker: "groff",
    debian: ["groff", "ghostscript"],
    shell: `printf '.TL\\nThe groff title\\n.LP\\nWords.\\n.bp\\nMore.\\n' > t.ms; groff -ms -Tps t.ms > groff.ps; groff -ms -Tpdf t.ms > groff.pdf`,
    files: { "groff.ps": ["PostScript document", "2 pages"], "groff.pdf": ["PDF", "2 pages"] },
  },
  {
    maker: "MuPDF",
    debian: ["mupdf-tools"],
    shell: `printf '%%%%MediaBox 0 0 200 200\\n0 0 m 10 10 l S\\n' > page.txt; mutool create -o mutool.pdf page.txt page.txt page.txt; mutool clean -gggg -z mutool.pdf mutool-clean.pdf`,
    files: { "mutool.pdf": ["PDF", "3 pages"], "mutool-clean.pdf": ["PDF", "3 pages"] },
  },
  {
    maker: "Poppler",
    debian: ["poppler-utils", "python3-reportlab"],
    shell: `python3 -c "
from reportlab.pdfgen import canvas
p = canvas.Canvas('part.pdf'); p.setTitle('A part')
for n in range(2): p.drawString(9, 9, 'x'); p.showPage()
p.save()"
pdfunite part.pdf part.pdf part.pdf poppler.pdf; pdftocairo -pdf part.pdf pdftocairo.pdf; pdftocairo -svg -f 1 -l 1 part.pdf pdftocairo.svg`,
    files: { "poppler.pdf": ["PDF", "6 pages"], "pdftocairo.pdf": ["PDF", "2 pages"] },
  },
  {
    maker: "WeasyPrint",
    debian: ["weasyprint"],
    shell: `echo '<html lang=en><title>Made of a page</title><p>One<p style="break-before: page">Two<p style="break-before: page">Three' > w.html; weasyprint -q w.html weasyprint.pdf; weasyprint -q --pdf-variant pdf/a-3b w.html weasyprint-a.pdf`,
    files: {
      "weasyprint.pdf": ["PDF", "3 pages", "Made of a page"],
      "weasyprint-a.pdf": ["PDF", "3 pages", "PDF/A-3b", "Made of a page"],
    },
  },
  {
    maker: "img2pdf",
    debian: ["img2pdf", "imagemagick"],
    shell: `convert -size 60x80 gradient:red-blue i.jpg; img2pdf --title "Four scans" i.jpg i.jpg i.jpg i.jpg -o img2pdf.pdf`,
    files: { "img2pdf.pdf": ["PDF", "4 pages", "Four scans"] },
  },
  {
    maker: "enscript",
    debian: ["enscript"],
    shell: `seq 150 > n.txt; enscript -q -B -o enscript.ps n.txt || test -s enscript.ps`,
    files: { "enscript.ps": ["PostScript document", /[23] pages/] },
  },
  {
    maker: "Chromium",
    debian: ["chromium-headless-shell"],
    shell: `echo '<title>A printed page</title><p>One<p style="break-before: page">Two' > c.html; $(command -v chromium-headless-shell || ls /usr/lib/chromium/headless_shell /usr/lib/chromium/chromium-headless-shell 2>/dev/null | head -1) --headless --no-sandbox --disable-gpu --print-to-pdf=$PWD/chromium.pdf file://$PWD/c.html >/dev/null 2>&1`,
    files: { "chromium.pdf": ["PDF", "2 pages", "A printed page"] },
  },
  {
    maker: "jsPDF",
    npm: ["jspdf@4.2.1"],
    node: `
import { writeFileSync } from "node:fs";
import { jsPDF } from "jspdf";
const pdf = new jsPDF(); pdf.setProperties({ title: "By jsPDF" });
for (let n = 1; n < 9; n++) pdf.text("Page", 10, 10).addPage();
writeFileSync("jspdf.pdf", Buffer.from(pdf.output("arraybuffer")));
`,
    files: { "jspdf.pdf": ["PDF", "9 pages", "By jsPDF"] },
  },
  {
    maker: "pdfmake",
    npm: ["pdfmake@0.3.11"],
    node: `
import { createRequire } from "node:module";
const pdfmake = createRequire(process.cwd() + "/")("pdfmake");
const file = (style) => createRequire(process.cwd() + "/").resolve("pdfmake/build/fonts/Roboto/Roboto-" + style + ".ttf");
pdfmake.setFonts({ Roboto: { normal: file("Regular"), bold: file("Medium"), italics: file("Italic"), bolditalics: file("MediumItalic") } });
await pdfmake.createPdf({ info: { title: "Invoice 7" }, content: ["One", { text: "Two", pageBreak: "before" }] }).write("pdfmake.pdf");
`,
    files: { "pdfmake.pdf": ["PDF", "2 pages", "Invoice 7"] },
  },
  {
    maker: "xlsx-populate",
    npm: ["xlsx-populate@1.21.0"],
    node: `
import populate from "xlsx-populate";
const book = await populate.fromBlankAsync();
book.sheet(0).name("Plan").cell("A1").value([[1, 2], [3, 4], [5, 6]]);
await book.toFileAsync("populate.xlsx"); await book.toFileAsync("populate-locked.xlsx", { password: "secret" });
`,
    files: {
      "populate.xlsx": ["Excel workbook", "1 sheet", '"Plan"'],
      "populate-locked.xlsx": [/Office document|Excel workbook/, "encrypted"],
    },
  },
  {
    maker: "officegen",
    npm: ["officegen@0.6.5"],
    node: `
import { createWriteStream } from "node:fs";
import officegen from "officegen";
const write = (made, name) => new Promise((resolve) => { const out = createWriteStream(name); out.on("close", resolve); made.generate(out); });
const text = officegen({ type: "docx", title: "By officegen" }); text.createP().addText("Words"); await write(text, "officegen.docx");
const show = officegen({ type: "pptx", title: "Two slides" }); show.makeNewSlide(); show.makeNewSlide(); await write(show, "officegen.pptx");
const book = officegen("xlsx"); const sheet = book.makeNewSheet(); sheet.name = "Costs"; sheet.data = [[1, 2], [3, 4]]; await write(book, "officegen.xlsx");
`,
    files: {
      "officegen.docx": ["Word document", "By officegen"],
      "officegen.pptx": ["PowerPoint presentation", "2 slides", "Two slides"],
      "officegen.xlsx": ["Excel workbook", "1 sheet", '"Costs"'],
    },
  },
  {
    maker: "html-to-docx",
    npm: ["html-to-docx@1.8.0"],
    node: `
import { writeFileSync } from "node:fs";
import convert from "html-to-docx";
writeFileSync("html-to-docx.docx", Buffer.from(await convert("<h1>Hello</h1><p>World</p>", null, { title: "Of HTML" })));
`,
    files: { "html-to-docx.docx": ["Word document", "Of HTML"] },
  },
  {
    maker: "epub-gen-memory",
    npm: ["epub-gen-memory@1.1.2"],
    node: `
import { writeFileSync } from "node:fs";
import epub from "epub-gen-memory";
const made = await (epub.default ?? epub)({ title: "A small book", author: "A" }, [1, 2, 3].map((n) => ({ title: "Chapter " + n, content: "<p>Text</p>" })));
writeFileSync("epub-gen.epub", made);
`,
    files: { "epub-gen.epub": ["EPUB book", "A small book", /sections/] },
  },
];
