/**
 * What a user does first, the same in Node, on a page and in workers: reduces a result, reads what was stored,
 * restores it.
 * @module
 */

const PDF_BYTES = 300_000;

/** Answers with facts that are the same everywhere. */
export async function roundTrip(createSluice, store) {
  const sluice = await createSluice({ store });
  const pdf = new TextEncoder().encode(`%PDF-1.7\n${"x".repeat(PDF_BYTES)}`);
  const answer = JSON.stringify({ content: base64(pdf), name: "Sales Dashboard" });
  const result = { content: [{ type: "text", text: answer }] };

  const seen = await sluice.transform(result, { tool: "download_workbook", namespace: "tableau" });
  const stream = sluice.open({ namespace: "tableau", dialect: "mcp" });
  await stream.write(new TextEncoder().encode(JSON.stringify(result)));
  const reduced = await stream.close();
  const restored = await sluice.restore(reduced.value);
  const id = seen.artifacts[0]?.id ?? "none";
  const stored = await store.get(id);
  return {
    id,
    short: seen.text.length < 1_000 && reduced.text.length < 2_000,
    stored: stored !== null && base64(stored) === base64(pdf),
    restored: JSON.stringify(restored) === JSON.stringify(result),
  };
}

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}
