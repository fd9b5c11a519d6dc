/** Lines of a server, as whole messages and in pieces. */
import { expect, test } from "vitest";
import { MessageAssembler } from "../../../../web/src/mcp/http/message-router.js";

const MIB = 1024 * 1024;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const filling = (size: number): Uint8Array => new Uint8Array(size).fill(0x61);

interface Watched {
  readonly lane: MessageAssembler;
  /** What came of it, in order. */
  readonly told: string[];
}

/** A lane whose large messages are taken from the moment on that `knows` says so. */
function watched(knows: (id: string | undefined, isLast: boolean) => boolean): Watched {
  const told: string[] = [];
  let size = 0;
  const lane = new MessageAssembler({
    take: async (message) => void told.push(`whole ${message.length}`),
    begin: async (about, isLast) => {
      if (!knows(about.text("id"), isLast)) return undefined;
      told.push("begun");
      return {
        write: async (piece) => {
          size += piece.length;
        },
        end: (all) => void told.push(`ended ${size} ${all.text("id") ?? ""}`),
        fail: () => void told.push("failed"),
      };
    },
    tooLarge: async (id) => void told.push(`too large ${id}`),
  });
  return { lane, told };
}

async function say(lane: MessageAssembler, before: string, mebibytes: number, behind: string): Promise<number> {
  await lane.forward(bytes(before));
  for (let number = 0; number < mebibytes; number += 1) await lane.forward(filling(MIB));
  await lane.forward(bytes(behind));
  await lane.complete();
  return before.length + mebibytes * MIB + behind.length;
}

const FIRST = ['{"id":1,"result":"', '"}'] as const;
const LAST = ['{"result":"', '","id":1}'] as const;

test("a message of up to 8 MiB comes whole", async () => {
  const { lane, told } = watched(() => true);
  const size = await say(lane, FIRST[0], 7, FIRST[1]);
  expect(told).toEqual([`whole ${size}`]);
});

test("a larger one comes in pieces, from its beginning, as soon as its taker is known", async () => {
  const { lane, told } = watched((id) => id !== undefined);
  const size = await say(lane, FIRST[0], 100, FIRST[1]);
  expect(told).toEqual(["begun", `ended ${size} 1`]);
});

test("one whose taker is not known is held up to 64 MiB, and then goes to whom it must be for", async () => {
  const { lane, told } = watched((_id, isLast) => isLast);
  const held = await say(lane, LAST[0], 63, LAST[1]);
  const size = await say(lane, LAST[0], 65, LAST[1]);
  expect(told).toEqual([`whole ${held}`, "begun", `ended ${size} 1`]);
});

test("of one that nobody takes the id is told, and nothing is held", async () => {
  const { lane, told } = watched(() => false);
  await say(lane, LAST[0], 70, LAST[1]);
  await say(lane, '{"jsonrpc":"2.0","method":"x","params":"', 70, '"}');
  const size = await say(lane, FIRST[0], 1, FIRST[1]);
  expect(told).toEqual(["too large 1", `whole ${size}`]);
});

test("one that ends in its middle was never said", async () => {
  const { lane, told } = watched(() => true);
  await say(lane, FIRST[0], 1, "");
  await say(lane, FIRST[0], 9, "");
  await lane.forward(bytes(FIRST[0]));
  lane.drop();
  await lane.forward(filling(9 * MIB));
  lane.drop();
  expect(told).toEqual(["begun", "failed", "begun", "failed"]);
});

test("line ends within a message become white space", async () => {
  const lines: string[] = [];
  const lane = new MessageAssembler({
    take: async (message) => void lines.push(new TextDecoder().decode(message)),
    begin: async () => undefined,
    tooLarge: async () => undefined,
  });
  await lane.forward(bytes('{"id":1,\r'));
  await lane.forward(bytes('\n"result":{}}'));
  await lane.complete();
  expect(lines).toEqual(['{"id":1,  "result":{}}']);
});
