/**
 * Mail as text, as rows of messages, and the files that are attached to it: messages (RFC 5322, MIME) and mailboxes of them (RFC 4155).
 * @module
 */
import PostalMime, { type Address, type Attachment, type Email } from "postal-mime";
import { humanSize } from "../core/amounts.js";
import { SluiceError } from "../errors/error.js";
import {
  checkForm,
  convertText,
  type Converted,
  type ConvertOptions,
  createSink,
  FactsBuilder,
  replaceControls,
  shortenLine,
  type TextSink,
} from "./document.js";
import { convertHtml } from "./html.js";
import { writeRow } from "./table-cells.js";

/** Most messages of a mailbox. */
const MAX_MESSAGES = 100_000;

/** Most names of attached files that are told where another was asked for. */
const MAX_NEAR = 5;

/** Columns of the rows of messages. */
const COLUMNS = ["message", "date", "from", "to", "cc", "subject", "attachments", "text"] as const;

/** Reads mail. Each message is a part. Throws E_INVALID_ARGUMENT for a form other than `text` and `rows`. */
export function convertMail(bytes: Uint8Array, options: ConvertOptions): Converted {
  checkForm(options.form, "mail", ["text", "rows"]);
  const facts = new FactsBuilder("message");
  const sink = createSink(facts, options);
  const isRows = options.form === "rows";
  return convertText("mail", sink, options, async function* () {
    if (isRows) sink.add(writeRow(COLUMNS));
    let number = 0;
    for (const message of splitMessages(bytes)) {
      number += 1;
      const mail = await parseMessage(message);
      noteMessage(facts, mail, number, isMailbox(bytes));
      if (isRows) {
        facts.at = number;
        sink.add(await writeMessageRow(mail, number, options));
      } else {
        sink.part();
        yield* writeMessage(sink, mail, options);
      }
      yield;
    }
  });
}

/**
 * The content of an attached file by its name, as the facts have it. Throws E_DOCUMENT, and E_INVALID_ARGUMENT with names that there are
 * if there is none of that name.
 */
export async function takeAttachment(bytes: Uint8Array, name: string): Promise<Uint8Array> {
  const near: string[] = [];
  let number = 0;
  for (const message of splitMessages(bytes)) {
    number += 1;
    const names = nameAttachments((await parseMessage(message)).attachments, number, isMailbox(bytes));
    for (const [known, attachment] of names) {
      if (known === name) return toBytes(attachment);
      if (near.length < MAX_NEAR) near.push(known);
    }
  }
  const known = near.map((each) => JSON.stringify(each)).join(", ");
  const hint = near.length === 0 ? "nothing is attached" : `there is ${known}`;
  throw new SluiceError("E_INVALID_ARGUMENT", `The mail has no attached file ${JSON.stringify(name)}: ${hint}.`, {
    path: "entry",
  });
}

/** What begins a message in a mailbox: a line of its own behind an empty one, with a sender and a date. */
const FROM_LINE = /(?:^|\r?\n\r?\n)From [^\n]*[0-9]{2}:[0-9]{2}[^\n]*\n/g;

function isMailbox(bytes: Uint8Array): boolean {
  return toLatin(bytes.subarray(0, 5)) === "From ";
}

/** The messages of a mailbox, one after the other, or the one that the bytes are. */
function* splitMessages(bytes: Uint8Array): Generator<Uint8Array> {
  if (!isMailbox(bytes)) {
    yield bytes;
    return;
  }
  const text = toLatin(bytes);
  let start: number | undefined;
  let count = 0;
  for (const { 0: line, index } of text.matchAll(FROM_LINE)) {
    if (start !== undefined) yield unquoteFrom(text.slice(start, index));
    start = index + line.length;
    count += 1;
    if (count > MAX_MESSAGES) throw tooMany();
  }
  if (start !== undefined) yield unquoteFrom(text.slice(start));
}

function tooMany(): SluiceError {
  return new SluiceError("E_TOO_LARGE", `The mailbox has more than ${MAX_MESSAGES} messages: split it.`);
}

/** A line that begins like the one before a message has `>` in front (mboxrd). */
function unquoteFrom(message: string): Uint8Array {
  const plain = message.replaceAll(/^>(>*From )/gm, "$1");
  return Uint8Array.from(plain, (sign) => sign.charCodeAt(0));
}

/** Bytes as text of as many characters. */
function toLatin(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE) pieces.push(String.fromCharCode(...bytes.subarray(at, at + PIECE)));
  return pieces.join("");
}

const PIECE = 8192;

async function parseMessage(message: Uint8Array): Promise<Email> {
  const mail = await PostalMime.parse(message, { forceRfc822Attachments: true });
  const { text, html, subject } = mail;
  return {
    ...mail,
    ...(text !== undefined && { text: restoreSigns(text) }),
    ...(html !== undefined && { html: restoreSigns(html) }),
    ...(subject !== undefined && { subject: restoreSigns(subject) }),
  };
}

/** The signs of Windows-1252 at 0x80 to 0x9F: quotes, dashes, the euro. */
const SIGNS = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/** Node 20 decodes Windows-1252 as Latin-1 unless it streams, and mail has none of the controls that this makes. */
function restoreSigns(text: string): string {
  return text.replaceAll(/[\u{80}-\u{9f}]/gu, (control) => SIGNS[control.charCodeAt(0) - 0x80] as string);
}

function noteMessage(facts: FactsBuilder, mail: Email, number: number, isOneOfMany: boolean): void {
  const subject = shortenLine(mail.subject ?? "");
  if (isOneOfMany) facts.name(subject);
  else facts.title(subject);
  for (const [name, attachment] of nameAttachments(mail.attachments, number, isOneOfMany)) {
    facts.attachment(name, humanSize(toBytes(attachment).length));
  }
}

/** Attached files with the names that they are taken out by: each once, of a mailbox behind the number of the message. */
function nameAttachments(
  attachments: readonly Attachment[],
  number: number,
  isOneOfMany: boolean,
): readonly (readonly [name: string, attachment: Attachment])[] {
  const taken = new Map<string, number>();
  return attachments.map((attachment, at) => {
    const ending = EXTENSIONS.get(attachment.mimeType) ?? "bin";
    const given =
      shortenLine(restoreSigns(replaceControls(attachment.filename ?? ""))) || `attachment-${at + 1}.${ending}`;
    const count = (taken.get(given) ?? 0) + 1;
    taken.set(given, count);
    const name = count === 1 ? given : given.replace(/(?=\.[^.]*$|$)/, ` (${count})`);
    return [isOneOfMany ? `${number}/${name}` : name, attachment] as const;
  });
}

/** Endings of what is often attached without a name. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["message/rfc822", "eml"],
  ["text/calendar", "ics"],
  ["text/plain", "txt"],
  ["text/html", "html"],
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["application/pdf", "pdf"],
]);

function toBytes({ content }: Attachment): Uint8Array {
  if (typeof content === "string") return new TextEncoder().encode(content);
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}

/** Writes who, when and what a message is about, then its text. */
async function* writeMessage(sink: TextSink, mail: Email, options: ConvertOptions): AsyncGenerator<void> {
  const head = [
    ["From", writeAddresses(mail.from)],
    ["To", writeAddresses(...(mail.to ?? []))],
    ["Cc", writeAddresses(...(mail.cc ?? []))],
    ["Reply-To", writeAddresses(...(mail.replyTo ?? []))],
    ["Date", mail.date ?? ""],
    ["Subject", mail.subject ?? ""],
    ["Attached", mail.attachments.map(({ filename, mimeType }) => filename ?? mimeType).join(", ")],
  ];
  for (const [name, value = ""] of head) {
    if (value !== "") sink.add(`${name}: ${value.replaceAll(/\s+/g, " ")}\n`);
  }
  sink.add("\n");
  for await (const piece of readText(mail, options)) {
    sink.add(piece);
    yield;
  }
  sink.add("\n");
}

async function writeMessageRow(mail: Email, number: number, options: ConvertOptions): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of readText(mail, options)) pieces.push(piece);
  return writeRow([
    number,
    mail.date,
    writeAddresses(mail.from),
    writeAddresses(...(mail.to ?? [])),
    writeAddresses(...(mail.cc ?? [])),
    mail.subject,
    mail.attachments.length,
    pieces.join("").trim(),
  ]);
}

/** The text of a message; of one that is HTML alone what a reader sees of that. */
async function* readText({ text, html }: Email, options: ConvertOptions): AsyncGenerator<string> {
  if (text !== undefined && text.trim() !== "") yield text.replaceAll("\f", "\n").trimEnd();
  else if (html !== undefined) {
    const page = await convertHtml(new TextEncoder().encode(html), { ...options, form: "text" });
    for await (const piece of page.text) yield piece.replaceAll("\f", "\n");
  }
}

function writeAddresses(...addresses: readonly (Address | undefined)[]): string {
  return addresses
    .map((each) => {
      if (each === undefined) return "";
      if (each.group !== undefined) return `${each.name}: ${writeAddresses(...each.group)};`;
      return each.name === "" ? each.address : `${restoreSigns(each.name)} <${each.address}>`;
    })
    .filter(Boolean)
    .join(", ");
}
