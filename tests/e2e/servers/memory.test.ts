/** A server that keeps a graph, behind the proxy: bytes and long lists under a strict schema. */
import { describe, expect, test } from "vitest";
import { behindProxy, DRIVERS, type Conversation, type Driver } from "./behind.js";
import { expectStored, uriIn, urisIn } from "./expectations.js";
import { FILES, useFolder } from "./folder.js";
import { memory } from "./programs.js";
import { isFull } from "../../support/full.js";

const folder = useFolder();
const BYTES = FILES["noise.bin"];
const MANY = Array.from({ length: 3_000 }, (_, number) => `observation ${number} of a long day`);

const open = (driver: Driver): Promise<Conversation> => behindProxy(driver, memory(folder.path()));

const entity = (name: string, observations: readonly string[]): object => ({
  entities: [{ name, entityType: "file", observations }],
});

describe.runIf(isFull).each(DRIVERS)("%s", (driver) => {
  test("base64 in a graph is stored, and goes back into it", async () => {
    await using server = await open(driver);
    await expectStored(server, await server.call("create_entities", entity(driver, [BYTES.toString("base64")])), [
      BYTES,
    ]);
    const found = await server.call("open_nodes", { names: [driver] });
    await expectStored(server, found, [BYTES]);

    const name = `${driver}, again`;
    const again = await server.call("create_entities", entity(name, [`${uriIn(found)}?as=base64`]));
    await expectStored(server, again, [BYTES]);
    const nodes = await server.call("open_nodes", { names: [name] });
    await expectStored(server, nodes, [BYTES]);
    expect(JSON.stringify(nodes.structuredContent)).toContain(uriIn(found));
  });

  test("a long list fits the schema that was listed", async () => {
    await using server = await open(driver);
    const result = await server.call("create_entities", entity(`${driver}, long`, MANY));
    const list = (await server.stored()).filter(({ ref }) => urisIn(result).includes(`artifact://${ref.id}`));
    expect(list.map(({ bytes }) => JSON.parse(bytes.toString()) as unknown)).toContainEqual(MANY);
    expect(JSON.stringify(server.heard()).length).toBeLessThan(50_000);
  });
});
