/**
 * Results of many shapes as JSON in bytes: those whose time has a bar, and twenty whose sizes and contents are drawn from a seed.
 * @module
 */
import { makePng } from "../../demo/png.mjs";
import { documents } from "../gate.mjs";
import { smallResult } from "../measure.mjs";
import { numbers } from "../random.mjs";

const text = (value) => ({ content: [{ type: "text", text: value }] });
const json = (value) => Buffer.from(JSON.stringify(value));

/** Those of the other benchmarks. */
const FIXED = {
  "2 KB that needs nothing": () => json(smallResult()),
  "1 KB of text": () => json(text("small ".repeat(160))),
  "base64, 16 MiB": documents.base64.bytes,
  "long text, 9 MB": documents["long text"].bytes,
  "12,000 rows": documents["12,000 rows"].bytes,
};

const ALPHABETS = ["абвгдежзиклмнопрст", "日本語中文字漢書店東京", "àéîõüßøåčřžşğıœ", "😀🚀🎉👩‍💻🏳️‍🌈", "नमस्तेदुनिया"];
const FOLDERS = ["Users", "ada", "Documents", "reports", "2025", "archive", "new", "temp", "backup"];

/** Kinds of results; `draw` gives a size between two bounds. */
const RANDOM = {
  "nested objects": ({ whole, words, one, draw }) => {
    const tree = (depth) =>
      depth === 0
        ? one([whole(1000), words(3), true, null, whole(1e9) / 7])
        : Object.fromEntries(Array.from({ length: 1 + whole(5) }, (_, key) => [`${words(1)}_${key}`, tree(depth - 1)]));
    return json({ structuredContent: { items: Array.from({ length: draw(20, 200) }, () => tree(1 + whole(4))) } });
  },
  "deep nesting": ({ words, draw }) => {
    let inner = words(4);
    for (let depth = draw(60, 200); depth > 0; depth -= 1)
      inner = depth % 2 === 0 ? [inner] : { [`level${depth}`]: inner };
    return json({ structuredContent: { inner } });
  },
  "arrays of numbers": ({ whole, next, draw }) => {
    const series = () =>
      Array.from({ length: 200 }, () => (whole(2) === 0 ? whole(100_000) : next() * 10 ** (whole(40) - 20)));
    return json({ structuredContent: { series: Array.from({ length: draw(5, 60) }, series) } });
  },
  "strings with escapes": ({ whole, one, words, draw }) => {
    const piece = () => one(["\n", "\t", '"', "\\", "\u0001", "/", "\r\n"]).repeat(1 + whole(3)) + words(2);
    return json(text(Array.from({ length: draw(500, 8000) }, piece).join("")));
  },
  "text in other scripts": ({ one, words, draw }) => {
    const piece = () =>
      one([true, false]) ? words(1) : Array.from({ length: 8 }, () => one([...one(ALPHABETS)])).join("");
    return json(text(Array.from({ length: draw(500, 8000) }, piece).join(" ")));
  },
  "the same, escaped": ({ one, draw }) => {
    const letters = Array.from({ length: draw(2000, 30_000) }, () => one([...one(ALPHABETS)])).join("");
    const escaped = letters.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    return Buffer.from(`{"content":[{"type":"text","text":"${escaped}"}]}`);
  },
  "Windows paths": ({ whole, one, words, draw }) => {
    const path = () => `C:\\${Array.from({ length: 2 + whole(5) }, () => one(FOLDERS)).join("\\")}\\${words(1)}.txt`;
    return json(text(JSON.stringify(Array.from({ length: draw(20, 600) }, path))));
  },
  "base64 in lines": ({ bytes, draw }) =>
    json(text(bytes(draw(2000, 200_000)).toString("base64").replaceAll(/.{76}/g, "$&\r\n"))),
  "base64 for addresses": ({ bytes, draw }) =>
    json({ structuredContent: { token: bytes(draw(2000, 200_000)).toString("base64url") } }),
  "a data URI in Markdown": ({ bytes, words, draw }) =>
    json(
      text(
        `# ${words(3)}\n\n![${words(2)}](data:image/png;base64,${bytes(draw(2000, 100_000)).toString("base64")})\n\n${words(200)}`,
      ),
    ),
  "a list of bytes": ({ bytes, draw }) => json(text(JSON.stringify([{ blob: bytes(draw(1000, 60_000)) }]))),
  hex: ({ bytes, draw }) => json(text(bytes(draw(1000, 60_000)).toString("hex"))),
  "several images": ({ whole, words }) => {
    const image = (_, seed) => ({
      type: "image",
      mimeType: "image/png",
      data: makePng({ width: 20 + whole(200), height: 20 + whole(150), seed: seed + 1 }).toString("base64"),
    });
    return json({ content: [{ type: "text", text: words(12) }, ...Array.from({ length: 2 + whole(5) }, image)] });
  },
  "JSON in a text in a text": ({ whole, words, draw }) => {
    const rows = Array.from({ length: draw(10, 300) }, (_, id) => ({ id, name: words(2), price: whole(10_000) / 100 }));
    return json(text(JSON.stringify({ status: "ok", body: JSON.stringify({ rows }) })));
  },
  "text and structuredContent alike": ({ whole, words, draw }) => {
    const rows = Array.from({ length: draw(10, 400) }, (_, id) => ({ id, name: words(3), stock: whole(500) }));
    return json({ ...text(JSON.stringify({ rows })), structuredContent: { rows } });
  },
  "many small texts": ({ words, whole, draw }) =>
    json({ content: Array.from({ length: draw(50, 1500) }, () => ({ type: "text", text: words(1 + whole(20)) })) }),
  "indented JSON": ({ whole, words, draw }) => {
    const rows = Array.from({ length: draw(20, 1500) }, (_, id) => ({
      id,
      tags: [words(1), words(1)],
      at: { x: whole(90), y: whole(90) },
    }));
    return Buffer.from(JSON.stringify({ structuredContent: { rows } }, null, 2));
  },
  "lines of a log": ({ whole, one, sentence, draw }) => {
    const line = (_, at) =>
      `2026-03-01T${String(at % 24).padStart(2, "0")}:00:${whole(60)}Z ${one(["INFO", "WARN", "ERROR"])} [worker-${whole(8)}] ${sentence(8)}`;
    return json(text(Array.from({ length: draw(20, 4000) }, line).join("\n")));
  },
  CSV: ({ whole, words, draw }) => {
    const line = (_, id) => `${id},"${words(2)}",${whole(100_000) / 100},2026-0${1 + whole(9)}-1${whole(10)}`;
    return json(text(["id,name,price,day", ...Array.from({ length: draw(20, 5000) }, line)].join("\r\n")));
  },
  "links to resources": ({ words, draw }) => {
    const link = (_, id) => ({
      type: "resource_link",
      uri: `file:///docs/${id}.pdf`,
      name: words(2),
      mimeType: "application/pdf",
    });
    return json({ content: Array.from({ length: draw(5, 200) }, link) });
  },
};

/**
 * All shapes. Another seed gives other documents of the random kinds.
 * @returns {readonly { name: string, bytes: Buffer }[]}
 */
export function shapesOf(seed) {
  const fixed = Object.entries(FIXED).map(([name, make]) => ({ name, bytes: make() }));
  const random = Object.entries(RANDOM).map(([name, make], index) => ({ name, bytes: make(chance(seed + index)) }));
  return [...fixed, ...random];
}

function chance(seed) {
  const given = numbers(seed);
  const { next, whole } = given;
  return {
    ...given,
    /** A whole number between two, small ones as often as large ones. */
    draw: (least, most) => Math.round(least * (most / least) ** next()),
    bytes: (length) => Buffer.from(Array.from({ length }, () => whole(256))),
  };
}
