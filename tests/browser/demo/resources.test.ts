import { describe, expect, it, vi } from "vitest";
import { connected, type DemoClient } from "./connected.js";

const PATIENCE = { timeout: 20_000 };

describe("the demo server's resources", () => {
  it("are listed on several pages", async () => {
    const { node } = await connected();

    const { items } = await node.listResources();

    expect(items.map(({ uri }) => uri)).toEqual([
      "note://today",
      "metrics://live",
      "catalogue://products.csv",
      "report://sales/Q1",
      "report://sales/Q2",
      "report://sales/Q3",
      "report://sales/Q4",
    ]);
  });

  it("have templates whose variables are completed", async () => {
    const { node } = await connected();

    const { items } = await node.listResourceTemplates();

    expect(items.map(({ uri_template }) => uri_template)).toEqual([
      "report://sales/{quarter}",
      "table://{region}/{year}",
    ]);
    expect(await node.complete("report://sales/{quarter}", "quarter", "")).toEqual(["Q1", "Q2", "Q3", "Q4"]);
    expect(await node.complete("table://{region}/{year}", "region", "s")).toEqual(["South"]);
    expect(await node.complete("table://{region}/{year}", "year", "2024")).toEqual(["2024"]);
  });

  it.each([
    ["note://today", "text", "text/plain"],
    ["metrics://live", "text", "application/json"],
    ["catalogue://products.csv", "text", "text/csv"],
    ["table://West/2024", "text", "text/csv"],
    ["report://sales/Q3", "artifact", "application/pdf"],
  ])("are read: %s", async (uri, kind, mime_type) => {
    const { node } = await connected();

    const { contents } = await node.readResource(uri);

    expect(contents).toEqual([expect.objectContaining({ kind, uri, mime_type })]);
  });

  it.each(["report://sales/Q5", "table://Nowhere/2024", "table://West/1999", "note://yesterday"])(
    "are not made up: %s",
    async (uri) => {
      const { node } = await connected();

      await expect(node.readResource(uri)).rejects.toThrow("no resource with this URI");
    },
  );

  it("tell of a note that was written", async () => {
    const client = await connected();
    const { node } = client;
    await node.readResource("note://today");
    await node.subscribe("note://today");

    await node.call("write_note", { text: "It rains." });

    await vi.waitFor(() => expect(updated(client)).toEqual(["note://today"]), PATIENCE);
    expect((await node.readResource("note://today")).contents).toEqual([
      expect.objectContaining({ text: "It rains." }),
    ]);
  });

  it("tell of new metrics while somebody is subscribed", async () => {
    const client = await connected();
    const { node } = client;
    await node.subscribe("metrics://live");

    await vi.waitFor(() => expect(updated(client)).toContain("metrics://live"), PATIENCE);

    await node.unsubscribe("metrics://live");
    const { contents } = await node.readResource("metrics://live");
    expect(contents).toEqual([expect.objectContaining({ text: expect.stringMatching(/"reading": [1-9]/) })]);
  });
});

function updated({ events }: DemoClient): string[] {
  return events.flatMap((event) =>
    event.kind === "resource" && event.event.kind === "updated" ? [event.event.uri] : [],
  );
}
