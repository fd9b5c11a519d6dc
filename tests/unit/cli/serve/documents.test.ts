/** Documents of a tool, read by the built command: its own process converts them, in one of its own. */
import { expect, test } from "vitest";
import { office, PRICES, shownIn, urisIn } from "../../../support/office.js";
import { Room } from "../command.js";
import { begin, called, serve } from "./serving.js";

interface Answer {
  readonly observation: string;
  readonly artifacts: readonly { readonly id: string }[];
}

test("`sluice serve` reads pages, asks sheets and takes files out of archives, for the session that has them", async () => {
  const place = await office();
  await using room = await Room.open();
  const sources = [{ name: "office", transport: "mcp", connection: place.connection }];
  const config = await room.write("serve.json", JSON.stringify({ sources }));
  await using server = await serve(["--config", config]);
  const [ada, bob] = [await begin(server.url), await begin(server.url)];
  const call = async (tool: string, args: object, by = ada): Promise<Answer> =>
    (await called(by, `office.${tool}`, args)) as Answer;
  const fileOf = async (name: string): Promise<string> => (await call("file", { name })).artifacts[0]?.id ?? "";

  const pdf = await fileOf("report.pdf");
  const page = await call("artifact_read", { uri: pdf, pages: "2" });
  expect(shownIn(page.observation)).toBe("Section 2\nThe warranty lasts 42 months.\n");
  const sum = { uri: await fileOf("sales.xlsx"), sheet: "Q2", query: "SELECT SUM(amount) AS total FROM rows" };
  expect(shownIn((await call("artifact_read", sum)).observation)).toBe("total\n60");
  const entry = { uri: await fileOf("bundle.zip"), entry: "data/prices.csv" };
  const [taken] = (await call("artifact_read", entry)).artifacts;
  const [edited] = (await call("artifact_edit", { uri: taken?.id, delete_rows: [1] })).artifacts;
  await call("save", { name: "out.csv", data: `artifact://${edited?.id}` });
  expect(new TextDecoder().decode(await place.read("out.csv"))).toBe(PRICES.replace("Coffee,4.50\n", ""));

  // Neither the document nor what it is read as is another's.
  const uris = urisIn((await call("artifact_read", { uri: pdf })).observation);
  expect(uris).toHaveLength(2);
  for (const uri of uris) {
    expect((await call("artifact_read", { uri }, bob)).observation).toContain("There is no artifact");
    expect((await bob.ask(`artifacts/${uri.slice("artifact://".length)}`)).status).toBe(404);
  }
  expect(server.said()).not.toMatch(/warn|error/i);
});
