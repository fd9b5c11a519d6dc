/** What is kept for clients that come back. */
import { array, assert, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { ReplayBuffer } from "../../../web/src/http/replay-buffer.js";

test("the oldest give way to more events or bytes, in order, and numbers stay", () => {
  assert(
    property(array(integer({ min: 0, max: 10 }), { maxLength: 50 }), (sizes) => {
      const dropped: number[] = [];
      const buffer = new ReplayBuffer<{ number: number; bytes: number }>({
        maxEvents: 5,
        maxBytes: 20,
        onDrop: ({ number }) => void dropped.push(number),
      });
      sizes.forEach((bytes, number) => buffer.append({ number, bytes }));
      const kept = [...buffer];
      expect([...dropped, ...kept.map(({ number }) => number)]).toEqual([...sizes.keys()]);
      expect([buffer.start, buffer.end]).toEqual([dropped.length, sizes.length]);
      expect(buffer.bytes).toBe(kept.reduce((sum, { bytes }) => sum + bytes, 0));
      for (const each of kept) expect(buffer.at(each.number)).toBe(each);
      expect([buffer.at(buffer.start - 1), buffer.at(buffer.end)]).toEqual([undefined, undefined]);
      // Nothing gave way that had room.
      const last = sizes[buffer.start - 1];
      const hadRoom = last !== undefined && kept.length < 5 && buffer.bytes + last <= 20;
      expect(kept.length <= 5 && buffer.bytes <= 20 && !hadRoom).toBe(true);
    }),
  );
});

test("what is taken out is not dropped, and makes room", () => {
  const dropped: number[] = [];
  const buffer = new ReplayBuffer<{ bytes: number }>({
    maxEvents: 9,
    maxBytes: 10,
    onDrop: ({ bytes }) => void dropped.push(bytes),
  });
  for (const bytes of [1, 6, 2]) buffer.append({ bytes });
  buffer.remove(({ bytes }) => bytes === 6);
  buffer.append({ bytes: 7 });
  expect([[...buffer].map(({ bytes }) => bytes), buffer.bytes, dropped]).toEqual([[1, 2, 7], 10, []]);
  for (let times = 0; times < 4; times += 1) buffer.drop();
  expect([buffer.isEmpty, buffer.bytes, dropped]).toEqual([true, 0, [1, 2, 7]]);
});
