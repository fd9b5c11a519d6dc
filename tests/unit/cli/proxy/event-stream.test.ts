/** Messages as events, whole and in pieces. */
import { expect, test } from "vitest";
import { EventStream } from "../../../../web/src/cli/proxy/event-stream.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nobody = (): void => undefined;

test("nothing comes between the pieces of a message", async () => {
  const stream = new EventStream(nobody);
  const response = stream.response({});
  const first = await stream.begin();
  const sent = [stream.send(bytes("2")), stream.begin(), stream.send(bytes("4"))] as const;
  await first.write(bytes("1"));
  await first.write(bytes("1"));
  first.end();
  const third = await sent[1];
  await third.write(bytes("3"));
  third.end();
  await Promise.all(sent);
  stream.end();
  const data = [...(await response.text()).matchAll(/^data: (.*)\n\n/gm)].map(([, text]) => text);
  expect(data).toEqual(["11", "2", "3", "4"]);
});

test("a message that will not be complete breaks the stream off", async () => {
  const ends = [
    (stream: EventStream): void => stream.end(),
    (_stream: EventStream, { fail }: { fail: () => void }): void => fail(),
  ];
  for (const end of ends) {
    const stream = new EventStream(nobody);
    const response = stream.response({});
    const pieces = await stream.begin();
    await pieces.write(bytes("half"));
    end(stream, pieces);
    await stream.send(bytes("lost"));
    await expect(response.text()).rejects.toThrow("breaks off");
  }
});

test("whoever writes waits for the client, and is told when it goes", async () => {
  let hasGone = false;
  const stream = new EventStream(() => {
    hasGone = true;
  });
  const response = stream.response({});
  const pieces = await stream.begin();
  let isTaken = false;
  const written = pieces.write(new Uint8Array(2 * 1024 * 1024)).then(() => (isTaken = true));
  await Promise.resolve();
  expect(isTaken).toBe(false);
  await response.body?.cancel();
  await written;
  expect(hasGone).toBe(true);
  await pieces.write(bytes("lost"));
});
