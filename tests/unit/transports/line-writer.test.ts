import { describe, expect, it } from "vitest";
import { LineWriter } from "../../../web/src/transports/line-writer.js";

describe("lines from several sides", () => {
  it("are never broken into", async () => {
    let out = "";
    const writer = new LineWriter(async (bytes) => {
      await new Promise((resolve) => setImmediate(resolve));
      out += new TextDecoder().decode(bytes);
    });
    const lane = writer.lane();
    await lane.forward(new TextEncoder().encode("a"));
    const other = writer.line("xyz");
    await lane.forward(new TextEncoder().encode("b"));
    await lane.complete();
    await lane.complete();
    await Promise.all([other, writer.line("last")]);
    expect(out).toBe("ab\nxyz\nlast\n");
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
