/**
 * Mail, calendars and cards.
 * @module
 */

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "Python email and mailbox",
    python: `
import email.message, mailbox
m = email.message.EmailMessage()
m["From"] = "Ada Lovelace <ada@example.org>"; m["To"] = "b@example.org"; m["Subject"] = "R\\u00e9union de lundi"; m["Date"] = "Mon, 02 Nov 2026 10:00:00 +0000"
m.set_content("Hello"); m.add_attachment(b"x" * 2000, maintype="application", subtype="pdf", filename="plan.pdf")
open("python.eml", "wb").write(bytes(m))
box = mailbox.mbox("box.mbox")
for n in range(7): box.add(m)
box.flush()
`,
    files: {
      "python.eml": ["email message", "Réunion de lundi", "Ada Lovelace", "1 attachment"],
      "box.mbox": ["mailbox", "7 messages"],
    },
  },
  {
    maker: "nodemailer",
    npm: ["nodemailer@10.6.1"],
    node: `
import { writeFileSync } from "node:fs";
import MailComposer from "nodemailer/lib/mail-composer/index.js";
const mail = new MailComposer({ from: "Bob <bob@example.org>", to: "c@example.org", subject: "Invoice 12", text: "Hi", attachments: [{ filename: "a.txt", content: "x" }, { filename: "b.txt", content: "y" }] });
writeFileSync("nodemailer.eml", await mail.compile().build());
`,
    files: { "nodemailer.eml": ["email message", "Invoice 12", '"Bob"', "2 attachments"] },
  },
  {
    maker: "mimetext",
    npm: ["mimetext@3.0.28"],
    node: `
import { writeFileSync } from "node:fs";
import { createMimeMessage } from "mimetext";
const message = createMimeMessage();
message.setSender({ name: "Carol", addr: "carol@example.org" }); message.setRecipient("d@example.org"); message.setSubject("Ünïcode");
message.addMessage({ contentType: "text/plain", data: "Hello" });
writeFileSync("mimetext.eml", message.asRaw());
`,
    files: { "mimetext.eml": ["email message", "Ünïcode", "Carol"] },
  },
  {
    maker: "icalendar",
    debian: ["python3-icalendar"],
    python: `
import icalendar, datetime
c = icalendar.Calendar(); c.add("prodid", "-//x//"); c.add("version", "2.0")
for n in range(5):
    e = icalendar.Event(); e.add("summary", "Meeting"); e.add("dtstart", datetime.datetime(2026, 11, n + 1)); c.add_component(e)
open("icalendar.ics", "wb").write(c.to_ical())
`,
    files: { "icalendar.ics": ["calendar", "5 events"] },
  },
  {
    maker: "ics",
    npm: ["ics@3.12.0"],
    node: `
import { writeFileSync } from "node:fs";
import { createEvents } from "ics";
const { value } = createEvents([1, 2, 3].map((day) => ({ start: [2026, 5, day, 6, 30], duration: { hours: 1 }, title: "Run" })));
writeFileSync("npm.ics", value);
`,
    files: { "npm.ics": ["calendar", "3 events"] },
  },
  {
    maker: "vobject",
    debian: ["python3-vobject"],
    python: `
import vobject
with open("vobject.vcf", "w") as f:
    for n in range(4):
        v = vobject.vCard(); v.add("fn").value = "Name %d" % n; v.add("n"); f.write(v.serialize())
`,
    files: { "vobject.vcf": ["vCard", "4 cards"] },
  },
];
