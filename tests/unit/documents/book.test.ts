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
  expect(text).toBe("# One\n\na\u00A0b\nc\n\f## Two\n\nd & e\n\n[image: F]\n");
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
  const fonts = encrypted("http://www.idpf.org/2008/embedding", "OEBPS/font.otf");
  expect(
    (await readAll(convertBook(await book(["x"], { "META-INF/encryption.xml": fonts }), { form: "text" }))).text,
  ).toBe("x\n");
});

test("a book without documents is damaged", async () => {
  await expect(convertBook(await book([]), { form: "text" })).rejects.toMatchObject({ code: "E_DOCUMENT" });
});
