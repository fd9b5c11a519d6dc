import { describe, expect, it } from "vitest";
import { LineWriter } from "../../../web/src/transports/line-writer.js";

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
    const lane = writer.lane();
    await lane.forward(bytes("a"));
    const other = writer.line("xyz");
    await lane.forward(bytes("b"));
    await lane.complete();
    await lane.complete();
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
    const lane = writer.lane(4);
    await lane.forward(bytes("ab"));
    await lane.forward(bytes("cd"));
    await writer.line("other");
    await lane.complete();
    expect(out()).toBe("other\nabcd\n");
  });

  it("is whole again, however small its pieces are", async () => {
    const { writer, out } = writing();
    const lane = writer.lane(20_000);
    for (let turn = 0; turn < 10_000; turn += 1) await lane.forward(bytes(String(turn % 10)));
    await lane.complete();
    expect(out()).toBe(`${"0123456789".repeat(1000)}\n`);
  });

  it("is written as it comes once it is longer than what is collected", async () => {
    const { writer, out } = writing();
    const lane = writer.lane(4);
    await lane.forward(bytes("abc"));
    await lane.forward(bytes("def"));
    const other = writer.line("other");
    await lane.forward(bytes("ghi"));
    expect(out()).toBe("abcdef");
    await lane.complete();
    await other;
    expect(out()).toBe("abcdefghi\nother\n");
  });

  it("and is given up leaves nothing, or a line that is ended", async () => {
    const { writer, out } = writing();
    const lane = writer.lane(4);
    await lane.forward(bytes("abc"));
    await lane.drop();
    await lane.forward(bytes("longer"));
    await lane.forward(bytes(" than that"));
    await lane.drop();
    await lane.drop();
    await writer.line("other");
    expect(out()).toBe("longer than that\nother\n");
  });
});
