import { describe, expect, it } from "vitest";
import { LineWriter } from "../../../web/src/jsonrpc/lines.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A writer, and what it wrote. */
function writing(): { readonly writer: LineWriter; readonly out: () => string } {
  let out = "";
  const writer = new LineWriter(async (written) => {
    await new Promise((resolve) => setImmediate(resolve));
    out += new TextDecoder().decode(written);
  });
  return { writer, out: () => out };
}

describe("lines from several sides", () => {
  it("are never broken into", async () => {
    const { writer, out } = writing();
    const sink = writer.sink();
    await sink.forward(bytes("a"));
    const other = writer.line("xyz");
    await sink.forward(bytes("b"));
    await sink.complete();
    await sink.complete();
    await Promise.all([other, writer.line("last")]);
    expect(out()).toBe("ab\nxyz\nlast\n");
  });

  it("go on after a failure", async () => {
    let fail = true;
    const writer = new LineWriter(async () => {
      if (fail) throw new Error("full");
    });
    await expect(writer.line("a")).rejects.toThrow("full");
    fail = false;
    await writer.line("b");
  });
});

describe("a line that stalls", () => {
  it("keeps nobody waiting while it is collected", async () => {
    const { writer, out } = writing();
    const sink = writer.sink(4);
    await sink.forward(bytes("ab"));
    await sink.forward(bytes("cd"));
    await writer.line("other");
    await sink.complete();
    expect(out()).toBe("other\nabcd\n");
  });

  it("is whole again, however small its pieces are", async () => {
    const { writer, out } = writing();
    const sink = writer.sink(20_000);
    for (let turn = 0; turn < 10_000; turn += 1) await sink.forward(bytes(String(turn % 10)));
    await sink.complete();
    expect(out()).toBe(`${"0123456789".repeat(1000)}\n`);
  });

  it("is written as it comes once it is longer than what is collected", async () => {
    const { writer, out } = writing();
    const sink = writer.sink(4);
    await sink.forward(bytes("abc"));
    await sink.forward(bytes("def"));
    const other = writer.line("other");
    await sink.forward(bytes("ghi"));
    expect(out()).toBe("abcdef");
    await sink.complete();
    await other;
    expect(out()).toBe("abcdefghi\nother\n");
  });

  it("and is given up leaves nothing, or a line that is ended", async () => {
    const { writer, out } = writing();
    const sink = writer.sink(4);
    await sink.forward(bytes("abc"));
    await sink.drop();
    await sink.forward(bytes("longer"));
    await sink.forward(bytes(" than that"));
    await sink.drop();
    await sink.drop();
    await writer.line("other");
    expect(out()).toBe("longer than that\nother\n");
  });
});
