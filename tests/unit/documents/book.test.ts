/** Books: their documents in reading order. */
import { expect, test } from "vitest";
import { convertBook } from "../../../web/src/documents/book.js";
import { book, readAll } from "../../support/documents.js";

test("documents come in the order of the spine, with elements that close themselves", async () => {
  const bytes = await book([
    "<h1>One</h1><p>a<a id='x'/>&nbsp;b<br/>c</p><div/>",
    "<h2>Two</h2><p>d &amp; <i>e</i></p><img src='x' alt='F'/>",
  ]);
  const { text, facts } = await readAll(convertBook(bytes, { form: "text" }));
  expect(text).toBe("# One\n\na\u00A0b\nc\n\f## Two\n\nd & e\n\n[image: F (OEBPS/text/x)]\n");
  expect(facts).toEqual({
    part: "section",
    parts: 2,
    headings: [
      { title: "One", level: 1, part: 1 },
      { title: "Two", level: 2, part: 2 },
    ],
    title: "A Book",
  });
});

test("notes are marked across documents, and the links back from them are no text", async () => {
  const bytes = await book([
    "<p>a<sup><a epub:type='noteref' href='y%20x.xhtml#n1'>1</a></sup> b<a role='doc-noteref' href='#n2'>*</a></p><aside epub:type='footnote' id='n2'><p>here</p></aside>",
    "<ol><li id='n1'><p><a href='z%20x.xhtml#r1' role='doc-backlink'>1</a>. there</p></li></ol>",
  ]);
  const { text } = await readAll(convertBook(bytes, { form: "text" }));
  expect(text).toBe("a[^1] b[^*]\n\n[^*]: here\n\f[^1]: there\n");
});

test("a document without a heading has the one that the table of contents gives it; covers and figures are told", async () => {
  const bytes = await book(
    [
      "<h2>Own</h2><p>a</p>",
      "<p>b</p><img src='../img/f.png'/>",
      "<svg><title>x</title><image xlink:href='../img/cover.jpg'/></svg>",
    ],
    {
      "OEBPS/content.opf": `<package><manifest><item id="z" href="text/z%20x.xhtml" media-type="application/xhtml+xml"/><item id="y" href="text/y%20x.xhtml" media-type="application/xhtml+xml"/><item id="x" href="text/x%20x.xhtml" media-type="application/xhtml+xml"/><item id="nav" properties="nav" href="nav.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="z"/><itemref idref="y"/><itemref idref="x"/></spine></package>`,
      "OEBPS/nav.xhtml": `<html><body><nav epub:type="toc"><ol><li><a href="text/z%20x.xhtml">First</a></li><li><a href="text/y%20x.xhtml">Second <i>part</i></a></li><li><a href="text/y%20x.xhtml#s">no</a></li></ol></nav></body></html>`,
    },
  );
  const { text, facts } = await readAll(convertBook(bytes, { form: "text" }));
  expect(text).toBe("## Own\n\na\n\f# Second part\n\nb\n\n[image: OEBPS/img/f.png]\n\f[image: OEBPS/img/cover.jpg]\n");
  expect(facts.headings.map(({ title }) => title)).toEqual(["Own", "Second part"]);
});

test("links are told of all documents", async () => {
  const bytes = await book(["<a href='https://example.com/1'>one</a>", "<a href='https://example.com/2'>two</a>"]);
  const { text } = await readAll(convertBook(bytes, { form: "links" }));
  expect(text).toBe("one\thttps://example.com/1\ntwo\thttps://example.com/2\n");
});

function encrypted(algorithm: string, uri: string): string {
  return `<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="${algorithm}"/><enc:CipherData><enc:CipherReference URI="${uri}"/></enc:CipherData></enc:EncryptedData></encryption>`;
}

test("a protected book is told, one whose fonts are scrambled is read", async () => {
  const locked = encrypted("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/text/z%20x.xhtml");
  await expect(
    readAll(convertBook(await book(["x"], { "META-INF/encryption.xml": locked }), { form: "text" })),
  ).rejects.toMatchObject({
    code: "E_DOCUMENT",
    message: expect.stringContaining("copy protection (DRM) or a password") as unknown,
  });
  const named = { "META-INF/encryption.xml": locked, "META-INF/license.lcpl": "{}" };
  await expect(readAll(convertBook(await book(["x"], named), { form: "text" }))).rejects.toMatchObject({
    message: expect.stringContaining("copy protection (DRM: Readium LCP) or a password") as unknown,
  });
  const fonts = encrypted("http://www.idpf.org/2008/embedding", "OEBPS/font.otf");
  expect(
    (await readAll(convertBook(await book(["x"], { "META-INF/encryption.xml": fonts }), { form: "text" }))).text,
  ).toBe("x\n");
});

test("a book without documents is damaged", async () => {
  await expect(convertBook(await book([]), { form: "text" })).rejects.toMatchObject({ code: "E_DOCUMENT" });
});
