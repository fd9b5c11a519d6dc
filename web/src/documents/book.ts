/**
 * Books (EPUB 2 and 3) as text.
 * @module
 */
import { BlockWriter, oneLine } from "./blocks.js";
import {
  checkForm,
  convertText,
  toDamagedError,
  FactsBuilder,
  shortenLine,
  createSink,
  unreadable,
  type Converted,
  type ConvertOptions,
} from "./document.js";
import { readUndamaged } from "./drawing.js";
import { htmlSteps, HtmlText } from "./html.js";
import { DocumentPackage, resolvePart } from "./package.js";
import { localName, readXml } from "./xml.js";

const KIND = "book";

/** Most files of a book that are known. */
const MAX_ITEMS = 50_000;

/** Fonts are scrambled by these, and need no key. */
const FONT_OBFUSCATION: readonly string[] = ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

interface Book {
  /** Parts in the order in which they are read. */
  readonly spine: readonly string[];
  readonly title: string;
  /** The table of contents: a page of EPUB 3, or the NCX of EPUB 2. */
  readonly contents: string | undefined;
}

/**
 * Reads a book: its documents in reading order, each a part.
 *
 * @throws SluiceError E_INVALID_ARGUMENT for a form other than `text` and `links`, E_DOCUMENT for anything but such a book, or one with
 * copy protection, E_TOO_LARGE.
 */
export async function convertBook(bytes: Uint8Array, options: ConvertOptions): Promise<Converted> {
  checkForm(options.form, KIND, ["text", "links"]);
  const source = await DocumentPackage.open(bytes, KIND, ".epub", options);
  const { spine, title, contents } = await readBook(source);
  const locked = await listLockedParts(source);
  const headings = options.form === "text" ? await readContents(source, contents) : new Map<string, string>();
  const facts = new FactsBuilder("section");
  facts.total = spine.length;
  facts.title(title);
  const sink = createSink(facts, options);
  return convertText(KIND, sink, options, async function* () {
    const blocks = new BlockWriter(sink, 0);
    const notes = new Map<string, string>();
    for (const part of spine) {
      if (locked.has(part)) throw copyProtected(source);
      if (options.form === "text") blocks.part();
      const heading = headings.get(part);
      const page = new HtmlText(blocks, {
        form: options.form,
        onTitle: () => undefined,
        showsTitle: false,
        ...(heading !== undefined && { heading }),
        findPart: (address) => (address === "" ? part : resolvePart(part, address)),
        notes,
      });
      yield* htmlSteps(source.read(part), page, "xhtml");
    }
  });
}

async function readBook(source: DocumentPackage): Promise<Book> {
  const root = await rootFile(source);
  const items = new Map<string, string>();
  const ids: string[] = [];
  let page: string | undefined;
  let ncx: string | undefined;
  let title = "";
  let isTitle = false;
  let isTitled = false;
  await readXml(source.read(root), {
    open: (tag, attributes) => {
      const name = localName(tag);
      const { id, href, idref } = attributes;
      const type = attributes["media-type"] ?? "";
      if (name === "title") isTitle = !isTitled;
      else if (name === "item" && id !== undefined && href !== undefined && items.size < MAX_ITEMS) {
        if ((attributes["properties"] ?? "").split(/\s+/, 20).includes("nav")) page ??= resolvePart(root, href);
        if (type === "application/x-dtbncx+xml") ncx ??= resolvePart(root, href);
        if (/html|xml/i.test(type) && !/svg|ncx|smil/i.test(type)) items.set(id, resolvePart(root, href));
      } else if (name === "itemref" && idref !== undefined && ids.length < MAX_ITEMS) ids.push(idref);
    },
    close: (tag) => {
      if (localName(tag) !== "title") return;
      isTitled ||= title.trim() !== "";
      isTitle = false;
    },
    text: (text) => {
      if (isTitle && title.length < 1024) title += text;
    },
  });
  // A document that is read twice is told once.
  const spine = [...new Set(ids)].flatMap((id) => items.get(id) ?? []);
  const parts = [...new Set(spine)].filter((part) => source.has(part));
  if (parts.length === 0) throw toDamagedError(KIND);
  const contents = [page, ncx].find((each) => each !== undefined && source.has(each));
  return { spine: parts, title: oneLine(title), contents };
}

/** What the table of contents calls the parts that it names as wholes. None if it is damaged. */
async function readContents(
  source: DocumentPackage,
  contents: string | undefined,
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  if (contents === undefined) return titles;
  let text: string | undefined;
  let target = "";
  const add = (): void => {
    const title = shortenLine(text ?? "");
    text = undefined;
    if (title === "" || target === "" || target.includes("#") || titles.size >= MAX_ITEMS) return;
    const part = resolvePart(contents, target);
    if (!titles.has(part)) titles.set(part, title);
  };
  await readUndamaged(() =>
    readXml(source.read(contents), {
      open: (tag, attributes) => {
        const name = localName(tag);
        if (name === "a") {
          target = attributes["href"] ?? "";
          text = "";
        } else if (name === "text") text = "";
        else if (name === "content") {
          target = attributes["src"] ?? "";
          add();
        }
      },
      close: (tag) => {
        if (localName(tag) === "a") add();
      },
      text: (piece) => {
        if (text !== undefined && text.length < 1024) text += piece;
      },
    }),
  );
  return titles;
}

async function rootFile(source: DocumentPackage): Promise<string> {
  const container = "META-INF/container.xml";
  let root: string | undefined;
  await readXml(source.read(container), {
    open: (tag, attributes) => {
      if (localName(tag) === "rootfile") root ??= attributes["full-path"];
    },
  });
  const part = root === undefined ? undefined : resolvePart("", root);
  if (part === undefined || !source.has(part)) throw toDamagedError(KIND);
  return part;
}

/** The parts that a key is needed for. */
async function listLockedParts(source: DocumentPackage): Promise<ReadonlySet<string>> {
  const name = "META-INF/encryption.xml";
  const locked = new Set<string>();
  if (!source.has(name)) return locked;
  let isLocked = false;
  await readXml(source.read(name), {
    open: (tag, attributes) => {
      const element = localName(tag);
      if (element === "EncryptedData") isLocked = true;
      else if (element === "EncryptionMethod" && FONT_OBFUSCATION.includes(attributes["Algorithm"] ?? ""))
        isLocked = false;
      else if (element === "CipherReference" && isLocked && locked.size < MAX_ITEMS) {
        locked.add(resolvePart("", attributes["URI"] ?? ""));
      }
    },
  });
  return locked;
}

/** Files that schemes of copy protection leave in a book. */
const PROTECTIONS: readonly (readonly [file: string, name: string])[] = [
  ["META-INF/license.lcpl", "Readium LCP"],
  ["META-INF/rights.xml", "Adobe ADEPT"],
  ["META-INF/sinf.xml", "Apple FairPlay"],
];

function copyProtected(source: DocumentPackage): Error {
  const name = PROTECTIONS.find(([file]) => source.has(file))?.[1];
  return unreadable(
    `The book has copy protection (DRM${name === undefined ? "" : `: ${name}`}) or a password, and is not decrypted here: read it in the program that it was bought for, or get a copy without protection.`,
  );
}
