/**
 * The encoding of a text by its bytes, and its decoding. Letters beside others are told by how often languages have them; Chinese,
 * Japanese and Korean by the pairs of bytes that each of their encodings has for common characters.
 * @module
 */

/** Bytes by which an encoding is told, at most. */
const SAMPLE = 64 * 1024;

/** The label of an encoding in the Encoding Standard, or UTF-32, which it does not have. */
export type EncodingLabel = keyof typeof NAMES;

/** What people call them. */
const NAMES = {
  "utf-8": "UTF-8",
  "utf-16le": "UTF-16",
  "utf-16be": "UTF-16, big-endian",
  "utf-32le": "UTF-32",
  "utf-32be": "UTF-32, big-endian",
  "iso-2022-jp": "ISO-2022-JP",
  shift_jis: "Shift-JIS",
  "euc-jp": "EUC-JP",
  gb18030: "GB18030",
  big5: "Big5",
  "euc-kr": "EUC-KR",
  "windows-1250": "Windows-1250",
  "iso-8859-2": "ISO 8859-2",
  "windows-1251": "Windows-1251",
  "koi8-u": "KOI8",
  ibm866: "IBM 866",
  "windows-1252": "Windows-1252",
  "windows-1253": "Windows-1253",
  "windows-1254": "Windows-1254",
  "windows-1255": "Windows-1255",
  "windows-1256": "Windows-1256",
  "windows-1257": "Windows-1257",
  "windows-874": "Windows-874",
} as const;

/** What people call an encoding. */
export function nameEncoding(label: EncodingLabel): string {
  return NAMES[label];
}

/**
 * The encoding of a text that begins with these bytes; 64 KiB count. Undefined for anything but text: for zero bytes
 * and other control characters where they do not belong.
 */
export function detectEncoding(bytes: Uint8Array): EncodingLabel | undefined {
  const sample = bytes.subarray(0, SAMPLE);
  const wide = findWide(sample);
  if (wide !== undefined) return wide;
  if (sample.includes(0)) return undefined;
  if (hasShift(sample)) return "iso-2022-jp";
  if (countControls(sample) > sample.length / 64) return undefined;
  if (isMostlyUtf8(sample)) return "utf-8";
  return findDeclared(sample) ?? findPaired(sample) ?? findSingle(sample);
}

/** Whether a text is UTF-8 but for what was cut or mixed in. */
function isMostlyUtf8(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes, { stream: true });
  const wrong = text.match(/\u{fffd}/gu)?.length ?? 0;
  return wrong === 0 || wrong * 10 < (text.match(/[^\0-\u{7f}]/gu)?.length ?? 0);
}

/** The encoding that a text names: XML, HTML, CSS, Python. */
function findDeclared(bytes: Uint8Array): EncodingLabel | undefined {
  const head = Array.from(bytes.subarray(0, DECLARED_WITHIN), (byte) => String.fromCharCode(byte)).join("");
  const [, name] =
    /(?:^<\?xml[^>]{0,200}encoding\s*=|<meta[^>]{0,400}charset\s*=|^@charset|coding[:=])\s*["']?([\w.:-]{1,40})/i.exec(
      head,
    ) ?? [];
  try {
    const label = new TextDecoder(name ?? "utf-8").encoding;
    return label !== "utf-8" && label in NAMES && isValid(bytes, label) ? (label as EncodingLabel) : undefined;
  } catch {
    return undefined;
  }
}

/** Bytes in which that stands. */
const DECLARED_WITHIN = 1024;

/** Decodes a text piece by piece. Whatever a piece cuts goes on in the next; what is wrong becomes U+FFFD. */
export class EncodingDecoder {
  readonly #decoder: { decode(bytes?: Uint8Array, options?: TextDecodeOptions): string };

  constructor(label: EncodingLabel) {
    const isWide = label === "utf-32le" || label === "utf-32be";
    this.#decoder = isWide ? new Utf32Decoder(label === "utf-32be") : new TextDecoder(label);
  }

  push(piece: Uint8Array): string {
    return this.#decoder.decode(piece, { stream: true });
  }

  end(): string {
    return this.#decoder.decode();
  }
}

/** What `TextDecoder` would be for UTF-32. */
class Utf32Decoder {
  readonly #isBig: boolean;
  #held = new Uint8Array();
  #isFirst = true;

  constructor(isBig: boolean) {
    this.#isBig = isBig;
  }

  decode(piece: Uint8Array = new Uint8Array(), { stream = false }: TextDecodeOptions = {}): string {
    const bytes = new Uint8Array(this.#held.length + piece.length);
    bytes.set(this.#held);
    bytes.set(piece, this.#held.length);
    const view = new DataView(bytes.buffer);
    const end = bytes.length - (bytes.length % 4);
    let text = "";
    for (let at = 0; at < end; at += 4) text += toCharacter(view.getUint32(at, !this.#isBig));
    this.#held = bytes.slice(end);
    if (this.#isFirst && text.startsWith("\u{feff}")) text = text.slice(1);
    this.#isFirst &&= end === 0;
    return !stream && this.#held.length > 0 ? `${text}\u{fffd}` : text;
  }
}

function toCharacter(point: number): string {
  return point > 0x10ffff || (point >= 0xd800 && point < 0xe000) ? "\u{fffd}" : String.fromCodePoint(point);
}

// --- two and four bytes a character ------------------------------------------------------------------------------------------------

/** Bytes that are looked at, the fewest that tell something, and the share of ordinary characters among them. */
const WIDE = { bytes: 1024, fewest: 16, share: 0.95 };

function findWide(bytes: Uint8Array): EncodingLabel | undefined {
  const [first, second, third, fourth] = bytes;
  if (first === 0xff && second === 0xfe) return third === 0 && fourth === 0 ? "utf-32le" : "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0 && second === 0 && third === 0xfe && fourth === 0xff) return "utf-32be";
  if (bytes.length < WIDE.fewest || !bytes.includes(0)) return undefined;
  const head = bytes.subarray(0, WIDE.bytes);
  return (["utf-32le", "utf-32be", "utf-16le", "utf-16be"] as const).find((label) => {
    const decoder = new EncodingDecoder(label);
    const text = Array.from(decoder.push(head));
    return text.filter(isOrdinary).length >= WIDE.share * text.length;
  });
}

/** Letters of Latin, Greek and Cyrillic: others stand too thick to tell them from numbers. */
function isOrdinary(character: string): boolean {
  return /[\t\n\r\u0020-\u007e\u00a0-\u052f]/.test(character);
}

// --- Chinese, Japanese, Korean -----------------------------------------------------------------------------------------------------

/** `ESC $ B` and its like begin Japanese in seven bits. */
function hasShift(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0x1b); at >= 0; at = bytes.indexOf(0x1b, at + 1)) {
    if (bytes[at + 1] === 0x24 && (bytes[at + 2] === 0x42 || bytes[at + 2] === 0x40)) return !bytes.some(isHigh);
  }
  return false;
}

function isHigh(byte: number): boolean {
  return byte >= 0x80;
}

function countControls(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + (byte < 0x20 && (byte < 0x09 || byte > 0x0d) && byte !== 0x1b ? 1 : 0), 0);
}

/**
 * An encoding of pairs: how common a pair is, in its language, of 1, and how common pairs have to be. Pairs of kana tell Japanese, which
 * reads as Chinese otherwise.
 */
interface Paired {
  readonly label: EncodingLabel;
  /** Whether a pair is a common character. */
  readonly isCommon: (lead: number, trail: number) => boolean;
  readonly isKana?: (lead: number, trail: number) => boolean;
}

const within = (byte: number, first: number, last: number): boolean => byte >= first && byte <= last;

/** Punctuation and full-width letters stand in the first rows of all. */
const PAIRED: readonly Paired[] = [
  {
    label: "shift_jis",
    isCommon: (lead, trail) => within(lead, 0x88, 0x97) || (lead === 0x81 && trail < 0x80) || lead === 0x82,
    isKana: (lead, trail) => (lead === 0x82 && trail >= 0x9f) || (lead === 0x83 && trail <= 0x96),
  },
  {
    label: "euc-jp",
    isCommon: (lead, trail) => trail > 0xa0 && (within(lead, 0xb0, 0xcf) || lead === 0xa1 || lead === 0xa3),
    isKana: (lead) => lead === 0xa4 || lead === 0xa5,
  },
  { label: "euc-kr", isCommon: (lead, trail) => trail > 0xa0 && (within(lead, 0xb0, 0xc8) || lead === 0xa1) },
  {
    label: "gb18030",
    isCommon: (lead, trail) => trail > 0xa0 && (within(lead, 0xb0, 0xd7) || lead === 0xa1 || lead === 0xa3),
  },
  { label: "big5", isCommon: (lead) => within(lead, 0xa4, 0xc6) || lead === 0xa1 },
];

/** The share of pairs that have to be common, and of kana that tells Japanese. */
const COMMON = 0.7;
const KANA = 0.1;

function findPaired(bytes: Uint8Array): EncodingLabel | undefined {
  let best: { readonly label: EncodingLabel; readonly share: number } | undefined;
  for (const { label, isCommon, isKana } of PAIRED) {
    if (!isValid(bytes, label)) continue;
    let [pairs, common, kana, end] = [0, 0, 0, -1];
    for (let at = 0; at < bytes.length - 1; at += 1) {
      const [lead, trail] = [bytes[at] as number, bytes[at + 1] as number];
      if (!isHigh(lead) || (label === "shift_jis" && within(lead, 0xa0, 0xdf))) continue;
      // One that stands alone is a letter of Latin and its neighbour.
      const isAlone = at !== end && !isHigh(bytes[at + 2] ?? 0);
      pairs += 1;
      at += 1;
      end = at + 1;
      if (isAlone) continue;
      if (isKana?.(lead, trail) === true) kana += 1;
      else if (isCommon(lead, trail)) common += 1;
    }
    const share = (kana + common) / Math.max(1, pairs);
    // Without kana it reads as Chinese or Korean.
    const isKnown = isKana === undefined || kana > KANA * pairs;
    if (!isKnown || share < COMMON) continue;
    if (isKana !== undefined) return label;
    if (share > (best?.share ?? 0)) best = { label, share };
  }
  return best?.label;
}

/** Whether bytes are of an encoding. The last character may be cut. */
function isValid(bytes: Uint8Array, label: string): boolean {
  try {
    new TextDecoder(label, { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

// --- one byte a character ----------------------------------------------------------------------------------------------------------

/**
 * Letters of languages beyond ASCII, the most frequent first, by the encoding that they are written in; of those that are alike in a
 * language the one before is taken.
 */
const LANGUAGES: readonly (readonly [EncodingLabel, readonly string[]])[] = [
  [
    "windows-1252",
    [
      "éèàêçôîûùâïëœ",
      "äüöß",
      "óíáéñúü",
      "ãçéáóíõêúâàô",
      "èàùòéì",
      "äöåéšž",
      "åøæé",
      "ëéïöüè",
      "áíðéóþúöæý",
      "àèóéçíòïúü",
    ],
  ],
  ["windows-1250", ["ęąłóżśćńź", "íáéěřčýžšůúťňďó", "áíéčžýšúťľôňäďĺŕ", "áéőöóüíúű", "ăîșâțşţ", "čšžćđ"]],
  ["iso-8859-2", ["ęąłóżśćńź", "íáéěřčýžšůúťňďó", "čšžćđ"]],
  ["windows-1254", ["ıüşiğçöİâî"]],
  ["windows-1257", ["ėųšžįąčūę", "āīūēšļņžķčģ", "äõüöšž"]],
  [
    "windows-1251",
    [
      "оеаинтсрвлкмдпуяызьбгчйхжшюцщэфъё",
      "оаинівтерскулдмпзяьбгйчхцїжєюшщфґ",
      "аоеитнрсвлкдпмзугъбчяжщцшйхюфь",
      "аеиоунрсјтвдлмкпзбчцжшћђгњљфџх",
    ],
  ],
  ["koi8-u", ["оеаинтсрвлкмдпуяызьбгчйхжшюцщэфъё", "оаинівтерскулдмпзяьбгйчхцїжєюшщфґ"]],
  ["ibm866", ["оеаинтсрвлкмдпуяызьбгчйхжшюцщэфъё"]],
  ["windows-1253", ["αοιετσνηρπκςμυλόίγδήάθέχφώύβωξζψϊϋ"]],
  ["windows-1255", ["יוהלארתבשמנםדעחפקכגסטזןךצףץ"]],
  ["windows-1256", ["ايلمنوتربةعدسفهكقحجشصطأخىضثغزئءظآإؤ", "اینردمهتوسبشگکزفلخقعجپحصغضچطثظذآءژئ"]],
  ["windows-874", ["านรอกเงมยลวดทสตะปบคหแพชขใไโจซผธณฐศถภญ่้ัิีุู์ำ็"]],
];

/** How likely the letter at a place of its list is, and others: of lists that are long the first are less likely. */
const RARE = 0.0006;
/** The share of letters that are of a neighbour. */
const FOREIGN = 0.2;
/** A capital within a word, and quotes and the like, whose language is any. */
const CAPITAL = 0.4;
const SIGN = 0.02;
const NOTHING = 0.000_01;

/** What may stand in a text of any language, and what within words. */
const SIGNS = /[\u00a0«»„“”‚‘’–—…€§°·•£©®№¿¡ºª²³½±×]/;

/** Languages of the first encoding are preferred, where little is known. */
const PRIOR = 4;

function findSingle(bytes: Uint8Array): EncodingLabel {
  const places = countPlaces(bytes);
  let best: { readonly label: EncodingLabel; readonly score: number } = { label: "windows-1252", score: -Infinity };
  for (const [label, languages] of LANGUAGES) {
    const letters = listLetters(label);
    if (letters === undefined) continue;
    const prior = label === "windows-1252" ? PRIOR : label === "iso-8859-2" || label === "ibm866" ? -1 : 0;
    const all = languages.map(rateLetters);
    const isWithAscii = /\p{Script=Latin}/u.test(languages[0] ?? "");
    for (const own of all) {
      const rate = (letter: string): number => mix(letter, own, all);
      const score = prior + scoreLanguage(letters, places, rate, isWithAscii);
      if (score > best.score) best = { label, score };
    }
  }
  return best.label;
}

/** What the bytes beyond ASCII are. Undefined where the runtime does not have the encoding. */
function listLetters(label: EncodingLabel): readonly string[] | undefined {
  try {
    return Array.from(new TextDecoder(label).decode(HIGH_BYTES));
  } catch {
    return undefined;
  }
}

const HIGH_BYTES = Uint8Array.from({ length: 128 }, (_, at) => 128 + at);

/** How often each byte above ASCII stands between letters of ASCII, beside one, and apart from them. */
type Places = readonly [Float64Array, Float64Array, Float64Array];

function countPlaces(bytes: Uint8Array): Places {
  const places: Places = [new Float64Array(128), new Float64Array(128), new Float64Array(128)];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (!isHigh(byte)) continue;
    const beside = Number(isLetter(bytes[at - 1])) + Number(isLetter(bytes[at + 1]));
    const counts = places[2 - beside] as Float64Array;
    counts[byte - 128] = (counts[byte - 128] as number) + 1;
  }
  return places;
}

function isLetter(byte = 0): boolean {
  return within(byte | 0x20, 0x61, 0x7a);
}

/** How likely each letter of a language is. */
function rateLetters(language: string): ReadonlyMap<string, number> {
  const letters = Array.from(language);
  const weights = letters.map((_, at) => 1 / (at + 3));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const likely = new Map(letters.map((letter, at) => [letter, (weights[at] as number) / sum]));
  for (const [letter, chance] of Array.from(likely)) {
    const capital = letter.toUpperCase();
    if (!likely.has(capital)) likely.set(capital, chance * CAPITAL);
  }
  return likely;
}

/** How likely a letter is in a text of a language that has names of its neighbours. */
function mix(letter: string, own: ReadonlyMap<string, number>, all: readonly ReadonlyMap<string, number>[]): number {
  const foreign = all.reduce((sum, each) => sum + (each.get(letter) ?? 0), 0) / all.length;
  const chance = (1 - FOREIGN) * (own.get(letter) ?? 0) + FOREIGN * foreign;
  return Math.max(chance, /\p{L}/u.test(letter) ? RARE : NOTHING);
}

/** The logarithm of how likely the bytes are in a language. */
function scoreLanguage(
  letters: readonly string[],
  places: Places,
  rate: (letter: string) => number,
  isWithAscii: boolean,
): number {
  let score = 0;
  letters.forEach((letter, at) => {
    if (places.every((counts) => counts[at] === 0)) return;
    const chances = SIGNS.test(letter)
      ? [letter === "’" ? SIGN : SIGN / 20, SIGN, SIGN]
      : placeChances(rate(letter), isWithAscii);
    places.forEach((counts, place) => (score += (counts[at] as number) * Math.log(chances[place] as number)));
  });
  return score;
}

/** Letters of one script make words. */
function placeChances(chance: number, isWithAscii: boolean): readonly number[] {
  return isWithAscii ? [chance, chance, chance / 3] : [chance / 100, chance / 10, chance];
}
