/**
 * Mail, calendars and cards.
 * @module
 */

/** @type {import("./main.mjs").Maker[]} */
export const makers = [
  {
    maker: "Python email and mailbox",
    program: ["python3", "--version"],
    python: `
import email.message, mailbox
m = email.message.EmailMessage()
m["From"] = "Ada Lovelace <ada@example.org>"; m["To"] = "b@example.org"; m["Subject"] = "R\\u00e9union de lundi"; m["Date"] = "Mon, 02 Nov 2026 10:00:00 +0000"
m.set_content("Hello"); m.add_attachment(b"x" * 2000, maintype="application", subtype="pdf", filename="plan.pdf")
open("python.eml", "wb").write(bytes(m))
box = mailbox.mbox("box.mbox")
box.clear()
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
  {
    maker: "ical-generator",
    npm: ["ical-generator@11.1.2"],
    node: `
import { writeFileSync } from "node:fs";
import ical from "ical-generator";
const calendar = ical({ name: "Team" });
for (let n = 1; n < 7; n++) calendar.createEvent({ start: new Date(Date.UTC(2026, 10, n)), summary: "Stand-up" });
writeFileSync("generator.ics", calendar.toString());
`,
    files: { "generator.ics": ["calendar", "6 events"] },
  },
  {
    maker: "vCards-js",
    npm: ["vcards-js@2.11.1"],
    node: `
import vcards from "vcards-js";
const card = vcards(); card.firstName = "Ada"; card.lastName = "Lovelace"; card.email = "ada@example.org"; card.saveToFile("vcards-js.vcf");
`,
    files: { "vcards-js.vcf": ["vCard", "1 card"] },
  },
  {
    maker: "MIME::Lite",
    debian: ["libmime-lite-perl"],
    shell: `perl -MMIME::Lite -e '$m = MIME::Lite->new(From => "Dan Brown <dan\\@example.org>", To => "e\\@example.org", Subject => "Photos", Type => "multipart/mixed"); $m->attach(Type => "TEXT", Data => "Hi"); $m->attach(Type => "image/jpeg", Data => "x" x 90, Filename => "a.jpg", Disposition => "attachment"); print $m->as_string' > mime-lite.eml`,
    files: { "mime-lite.eml": ["email message", '"Photos"', '"Dan Brown"', "1 attachment"] },
  },
  {
    maker: "Email::Stuffer",
    debian: ["libemail-stuffer-perl"],
    shell: `perl -MEmail::Stuffer -e 'print Email::Stuffer->from("Eve <eve\\@example.org>")->to("f\\@example.org")->subject("Plans")->text_body("Hi")->attach("xyz", filename => "plan.txt", content_type => "text/plain")->as_string' > stuffer.eml`,
    files: { "stuffer.eml": ["email message", '"Plans"', '"Eve"', "1 attachment"] },
  },
  {
    maker: "Ruby's Mail",
    debian: ["ruby-mail"],
    shell: `ruby -rmail -e 'm = Mail.new { from "Zoë <zoe@example.org>"; to "a@example.org"; subject "Grüße"; body "Hallo" }; m.charset = "UTF-8"; m.add_file(filename: "x.csv", content: "a,b\\n"); File.write("ruby.eml", m.to_s)'`,
    files: { "ruby.eml": ["email message", '"Grüße"', '"Zoë"', "1 attachment"] },
  },
  {
    maker: "procmail's formail",
    debian: ["procmail"],
    shell: `for n in 1 2 3 4 5; do printf 'From: a@example.org\\nTo: b@example.org\\nSubject: Note %s\\nDate: Mon, 02 Nov 2026 10:00:00 +0000\\n\\nFrom here on.\\n' $n | formail; echo; done > formail.mbox`,
    files: { "formail.mbox": ["mailbox", "5 messages"] },
  },
  {
    maker: "mpack",
    debian: ["mpack"],
    shell: `echo data > some.bin; mpack -s "Some data" -o mpack.eml some.bin`,
    files: { "mpack.eml": ["email message", '"Some data"', "1 attachment"] },
  },
  {
    maker: "s-nail",
    debian: ["s-nail"],
    shell: `printf '#!/bin/sh\\ncat > s-nail.eml\\n' > keep.sh; chmod +x keep.sh; seq 9 > numbers.csv; echo Hello | s-nail -n -S mta=$PWD/keep.sh -S from='Ina <i@example.org>' -S sendwait -s "A test" -a numbers.csv j@example.org`,
    files: { "s-nail.eml": ["email message", '"A test"', '"Ina"', "1 attachment"] },
  },
  {
    maker: "Mutt",
    debian: ["mutt"],
    shell: `printf '#!/bin/sh\\ncat > mutt.eml\\n' > keep-mutt.sh; chmod +x keep-mutt.sh; seq 9 > list.txt; echo Hello | mutt -n -F /dev/null -e "set sendmail=$PWD/keep-mutt.sh" -e "set from='Joe <joe@example.org>'" -e 'set copy=no' -e 'set sendmail_wait=0' -s "Lists" -a list.txt list.txt -- k@example.org`,
    files: { "mutt.eml": ["email message", '"Lists"', "2 attachments"] },
  },
  {
    maker: "calcurse",
    debian: ["calcurse"],
    shell: `mkdir -p cal; printf '11/03/2026 @ 10:00 -> 11/03/2026 @ 11:00 |Dentist\\n11/04/2026 @ 10:00 -> 11/04/2026 @ 11:00 |Paper\\n' > cal/apts; calcurse -D cal --export=ical > calcurse.ics`,
    files: { "calcurse.ics": ["calendar", "2 events"] },
  },
  {
    maker: "Chromium's MHTML",
    debian: ["chromium-headless-shell"],
    shell: `echo '<title>Kept page</title><p>Words' > k.html; cat > snap.mjs <<'X'
import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";
const { chromium } = createRequire(process.env.SLUICE_ROOT + "/")("playwright-core");
const browser = await chromium.launch({ executablePath: process.argv[2], args: ["--no-sandbox"] });
const context = await browser.newContext({ recordHar: { path: "playwright.har" } });
const page = await context.newPage();
await page.goto("file://" + process.cwd() + "/k.html");
const session = await context.newCDPSession(page);
writeFileSync("page.mhtml", (await session.send("Page.captureSnapshot", { format: "mhtml" })).data);
await context.close(); await browser.close();
X
node snap.mjs $(command -v chromium-headless-shell || ls /usr/lib/chromium/headless_shell | head -1)`,
    files: { "page.mhtml": ["web page archive", /Kept page/] },
  },
];
