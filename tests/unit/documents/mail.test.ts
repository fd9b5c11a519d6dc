/** Mail: messages as text and as rows, mailboxes, and attached files. */
import { describe, expect, test } from "vitest";
import { convertMail, takeAttachment } from "../../../web/src/documents/mail.js";
import { readAll } from "../../support/documents.js";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text.replaceAll("\n", "\r\n"));
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const readText = async (bytes: Uint8Array): Promise<string> =>
  (await readAll(convertMail(bytes, { form: "text" }))).text;

const REUNION = `From: =?windows-1252?q?Zo=EB_O=92Brien?= <zoe@example.org>
To: Team: a@example.org, "B, C" <b@example.org>;
Date: Mon, 02 Nov 2026 10:00:00 +0000
Subject: =?iso-8859-1?q?R=E9union_de?=
 =?utf-8?b?IGx1bmRp?=
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=windows-1252
Content-Transfer-Encoding: quoted-printable

Un caf=E9 =96 =
bient=F4t
--b
Content-Type: text/csv
Content-Disposition: attachment; filename*=utf-8''pr%C3%A9vu.csv
Content-Transfer-Encoding: base64

YSxiCjEsMgo=
--b
Content-Type: application/octet-stream
Content-Disposition: attachment; filename=pr=C3=A9vu.csv

again
--b
Content-Type: image/png
Content-Disposition: inline

pixels
--b--
`;

describe("a message", () => {
  test("is decoded: words in its header, its text, the names of what is attached", async () => {
    const { text, facts } = await readAll(convertMail(encode(REUNION), { form: "text" }));
    expect(text).toBe(
      "From: Zoë O’Brien <zoe@example.org>\nTo: Team: a@example.org, B, C <b@example.org>;\nDate: 2026-11-02T10:00:00.000Z\n" +
        "Subject: Réunion de lundi\nAttached: prévu.csv, pr=C3=A9vu.csv, image/png\n\nUn café – bientôt\n",
    );
    expect(facts).toMatchObject({ part: "message", parts: 1, title: "Réunion de lundi" });
    expect(facts.attachments).toEqual(["prévu.csv (8 B)", "pr=C3=A9vu.csv (6 B)", "attachment-3.png (7 B)"]);
  });

  test("gives its attached files by their names, those without one, too", async () => {
    expect(decode(await takeAttachment(encode(REUNION), "prévu.csv"))).toBe("a,b\n1,2\n");
    expect(decode(await takeAttachment(encode(REUNION), "attachment-3.png"))).toMatch(/^pixels/);
    await expect(takeAttachment(encode(REUNION), "plan.pdf")).rejects.toMatchObject({
      code: "E_INVALID_ARGUMENT",
      message: expect.stringContaining('there is "prévu.csv"') as string,
    });
  });

  test("tells two attached files of one name apart", async () => {
    const twice = REUNION.replace("filename=pr=C3=A9vu.csv", "filename*=utf-8''pr%C3%A9vu.csv");
    const { facts } = await readAll(convertMail(encode(twice), { form: "text" }));
    expect(facts.attachments?.slice(0, 2)).toEqual(["prévu.csv (8 B)", "prévu (2).csv (6 B)"]);
    expect(decode(await takeAttachment(encode(twice), "prévu (2).csv"))).toMatch(/^again/);
  });

  test("in another one is attached, and not mixed into its text", async () => {
    const outer = `Subject: Fwd\nContent-Type: multipart/mixed; boundary=o\n\n--o\n\nSee below.\n--o\nContent-Type: message/rfc822\n\n${REUNION}\n--o--\n`;
    const { text, facts } = await readAll(convertMail(encode(outer), { form: "text" }));
    expect(text).toBe("Subject: Fwd\nAttached: message/rfc822\n\nSee below.\n");
    expect(facts.attachments).toEqual([expect.stringMatching(/^attachment-1\.eml \(/)]);
    expect(await readText(await takeAttachment(encode(outer), "attachment-1.eml"))).toContain("Réunion de lundi");
  });

  test("of HTML alone is what a reader sees of it", async () => {
    const html = "<style>p{color:red}</style><h1>Big</h1><p>Hi <b>you</b></p><script>alert(1)</script>";
    expect(await readText(encode(`Subject: x\nContent-Type: text/html\n\n${html}`))).toBe(
      "Subject: x\n\n# Big\n\nHi you\n\n",
    );
  });

  test("that is cut or changed anywhere is text or a coded error", async () => {
    const bytes = encode(REUNION);
    for (let at = 0; at < bytes.length; at += 11) {
      const changed = bytes.slice();
      changed[at] = (changed[at] as number) ^ 0x1f;
      for (const broken of [bytes.slice(0, at), changed]) expect(await readText(broken)).toContain("\n");
    }
  });
});

const BOX = encode(`From a@example.org Mon Nov  2 10:00:00 2026
Subject: one

>From the sea
From here on, no message begins: 10:00

From b@example.org Mon Nov  2 11:30:00 2026
${REUNION}
`);

describe("a mailbox", () => {
  test("has a part for each message, and names them by their subjects", async () => {
    const { text, facts } = await readAll(convertMail(BOX, { form: "text" }));
    const [one, two] = text.split("\f");
    expect(one).toBe("Subject: one\n\nFrom the sea\nFrom here on, no message begins: 10:00\n");
    expect(two).toContain("bientôt");
    expect(facts).toMatchObject({ part: "message", parts: 2, names: ["one", "Réunion de lundi"] });
  });

  test("names attached files by the number of their message", async () => {
    const { facts } = await readAll(convertMail(BOX, { form: "text" }));
    expect(facts.attachments?.[0]).toBe("2/prévu.csv (8 B)");
    expect(decode(await takeAttachment(BOX, "2/prévu.csv"))).toBe("a,b\n1,2\n");
  });

  test("is a table of its messages", async () => {
    const { text } = await readAll(convertMail(BOX, { form: "rows" }));
    const [header, ...rows] = text.split("\n");
    expect(header).toBe("message,date,from,to,cc,subject,attachments,text");
    expect(rows.join("\n")).toContain(
      '2,2026-11-02T10:00:00.000Z,Zoë O’Brien <zoe@example.org>,"Team: a@example.org, B, C <b@example.org>;",,Réunion de lundi,3,Un café – bientôt',
    );
  });
});
