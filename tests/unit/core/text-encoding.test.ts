/** Encodings by their bytes: the first article of the Universal Declaration of Human Rights, as its translators wrote it, and tables. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  detectEncoding,
  EncodingDecoder,
  type EncodingLabel,
  nameEncoding,
} from "../../../web/src/core/text-encoding.js";
import { encodeText } from "../../support/encode-text.js";

/** The article in a language, and the encodings that programs write it in. */
const TEXTS: readonly (readonly [readonly EncodingLabel[], string])[] = [
  [
    ["windows-1252"],
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
  ],
  [
    ["windows-1252"],
    "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
  ],
  [
    ["windows-1252"],
    "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.",
  ],
  [
    ["windows-1252"],
    "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, devem agir uns para com os outros em espírito de fraternidade.",
  ],
  [
    ["windows-1252"],
    "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete och bör handla gentemot varandra i en anda av gemenskap.",
  ],
  [
    ["windows-1252"],
    "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og samvittighed, og de bør handle mod hverandre i en broderskabets ånd.",
  ],
  [
    ["windows-1250", "iso-8859-2"],
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
  ],
  [
    ["windows-1250"],
    "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v duchu bratrství.",
  ],
  [
    ["windows-1250"],
    "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek.",
  ],
  [
    ["windows-1254"],
    "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.",
  ],
  [
    ["windows-1251", "koi8-u", "ibm866"],
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.",
  ],
  [
    ["windows-1251", "koi8-u"],
    "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні діяти у відношенні один до одного в дусі братерства.",
  ],
  [
    ["windows-1253"],
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
  ],
  [
    ["windows-1255"],
    "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה.",
  ],
  [
    ["windows-1256"],
    "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.",
  ],
  [
    ["windows-874"],
    "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
  ],
  [
    ["shift_jis", "euc-jp"],
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
  ],
  [["gb18030"], "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。"],
  [["big5"], "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神互相對待。"],
  [
    ["euc-kr"],
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
  ],
];

const CASES = TEXTS.flatMap(([labels, text]) => labels.map((label) => [label, text] as const));

test.each(CASES)("a text in %s is told by its bytes, whole and cut anywhere: %.30s", (label, text) => {
  const bytes = encodeText(text, label);
  expect(detectEncoding(bytes)).toBe(label);
  expect(decode(bytes, label)).toBe(text);
  // A table of it: much of ASCII, some of it.
  const table = encodeText(
    `id;name;price\r\n${text
      .split(/[ 、,。]/)
      .map((word, at) => `${at};"${word}";1,50\r\n`)
      .join("")}`,
    label,
  );
  expect(detectEncoding(table)).toBe(label);
  expect(detectEncoding(bytes.subarray(0, bytes.length - 1))).toBe(label);
});

function decode(bytes: Uint8Array, label: EncodingLabel): string {
  const decoder = new EncodingDecoder(label);
  let text = "";
  for (let at = 0; at < bytes.length; at += 7) text += decoder.push(bytes.subarray(at, at + 7));
  return text + decoder.end();
}

describe("UTF", () => {
  const TEXT = "Größe, Цена, 値段 😀\r\n1, 2, 3\r\n";

  test.each(["utf-16le", "utf-16be", "utf-32le", "utf-32be"] as const)("%s with its mark", (label) => {
    const bytes = encodeText(`\ufeff${TEXT}`, label);
    expect(detectEncoding(bytes)).toBe(label);
    expect(decode(bytes, label)).toBe(TEXT);
  });

  test.each(["utf-16le", "utf-16be", "utf-32le", "utf-32be"] as const)("%s without a mark", (label) => {
    expect(detectEncoding(encodeText("Name;Größe\r\nÅsa;1,50\r\n", label))).toBe(label);
  });

  test("UTF-8 stays UTF-8, also cut within a character and with a stranger in it", () => {
    const bytes = new TextEncoder().encode(`${TEXT.repeat(40)}é`);
    expect(detectEncoding(bytes)).toBe("utf-8");
    expect(detectEncoding(bytes.subarray(0, bytes.length - 1))).toBe("utf-8");
    expect(detectEncoding(Uint8Array.from([...bytes, 0xff, 0x0a]))).toBe("utf-8");
    expect(detectEncoding(new TextEncoder().encode("plain"))).toBe("utf-8");
  });
});

test("Japanese in seven bits is told by its shift", () => {
  const bytes = Buffer.from("\u001b$B$3$s$K$A$O\u001b(B, hello\n", "latin1");
  expect(detectEncoding(bytes)).toBe("iso-2022-jp");
  expect(decode(bytes, "iso-2022-jp")).toBe("こんにちは, hello\n");
  // Colours are no shift.
  expect(detectEncoding(Buffer.from("\u001b[31mred\u001b(B\n"))).toBe("utf-8");
});

test("a document that names its encoding has it, if it can", () => {
  const text = "Ωmega";
  const html = `<html><meta charset="windows-1253">${text}`;
  expect(detectEncoding(encodeText(html, "windows-1253"))).toBe("windows-1253");
  const liar = encodeText(
    `<?xml version="1.0" encoding="shift_jis"?><a>Gr\u00f6\u00df \u00fc \u00e4</a>`,
    "windows-1252",
  );
  expect(detectEncoding(liar)).toBe("windows-1252");
});

test("bytes that are no text have no encoding", () => {
  expect(
    detectEncoding(Uint8Array.from({ length: 4096 }, (_, at) => (at * 167 + (at >> 3) * 59) & 0xff)),
  ).toBeUndefined();
  expect(detectEncoding(Uint8Array.from([0x89, 0x50, 0, 1]))).toBeUndefined();
});

test("whatever bytes there are, it answers, and what it answers decodes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const label = detectEncoding(bytes);
      if (label === undefined) return;
      expect(nameEncoding(label)).not.toBe("");
      expect(decode(bytes, label)).not.toMatch(/\p{Cs}/u);
    }),
  );
});
