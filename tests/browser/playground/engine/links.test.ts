import { expect, test } from "vitest";
import { linksIn } from "../../../../web/playground/engine/results.js";

const kept = (text: string): Parameters<typeof linksIn>[0] => ({
  tool: "find_reports",
  server: "demo",
  reduced: { text, artifacts: [], failures: [], bytesIn: text.length },
});
const result = (...content: readonly unknown[]): ReturnType<typeof kept> => kept(JSON.stringify({ content }));

test("a link is an artifact that is not there yet", () => {
  const link = { type: "resource_link", uri: "report://q1", name: "q1.pdf", title: "Q1", mimeType: "application/pdf" };
  expect(linksIn(result({ type: "text", text: "Reports:" }, { ...link, size: 4096 }))).toEqual([
    {
      id: "link-1",
      filename: "q1.pdf",
      mime_type: "application/pdf",
      namespace: "demo",
      size_bytes: 4096,
      source: { tool: "find_reports", uri: "report://q1", description: "Q1" },
      deferred: true,
    },
  ]);
});

test("a URI that is named twice is one link; what has no name is called by its URI", () => {
  const links = linksIn(
    result({ type: "resource_link", uri: "a:b" }, { type: "resource_link", uri: "a:b", name: "x" }),
  );
  expect(links.map(({ filename }) => filename)).toEqual(["a:b"]);
});

test.each([
  ["no JSON", '{"content":[{"type":"resource_link"'],
  ["no content", "{}"],
  ["content that is no list", '{"content":{"type":"resource_link","uri":"a:b"}}'],
  ["null", "null"],
  ["blocks that are nothing", '{"content":[null,1,"resource_link"]}'],
  ["a link without a URI", '{"content":[{"type":"resource_link","name":"x"}]}'],
  ["a URI that is none", '{"content":[{"type":"resource_link","uri":{}}]}'],
  ["a URI without an end", JSON.stringify({ content: [{ type: "resource_link", uri: "a".repeat(8193) }] })],
])("%s gives no links", (_, text) => {
  expect(linksIn(kept(text))).toEqual([]);
});

test("a server that says too much is cut short", () => {
  const many = Array.from({ length: 101 }, (_, i) => {
    return { type: "resource_link", uri: `a:${i}`, name: "n".repeat(600), size: "large", mimeType: 7 };
  });
  const links = linksIn(result(...many));
  expect(links).toHaveLength(100);
  expect(links[0]).toMatchObject({ filename: "n".repeat(500), mime_type: null });
  expect(links[0]).not.toHaveProperty("size_bytes");
});
