/** Which memory holds a version for the threads of a node, and when it may take another one. */
import { expect, test } from 'vitest';
import { isToLayOut, layOutEnded, newSharedMemory } from '../../infer/kernels/shared-weights.ts';
import { WeightMemories } from '../../local/node/weight-memories.ts';

test('a version stays where it is, whoever asks, until it is the one that was used least recently', () => {
  const memories = new WeightMemories(2);
  const use = (key: string) => {
    const held = memories.hold([key]);
    memories.release(held);
    return held[key]!;
  };
  const [a, b] = [use('a'), use('b')];
  expect(a.memory).not.toBe(b.memory);
  expect(use('a')).toEqual(a);
  const c = use('c');
  expect(c.memory).toBe(b.memory);
  expect(c.id).not.toBe(b.id);
  expect(use('a')).toEqual(a);
  expect(use('b')).toEqual({ memory: c.memory, id: expect.any(Number) });
  expect(use('b').id).not.toBe(b.id);
});

test('a memory that a call uses is not taken from it, and one more is made', () => {
  const memories = new WeightMemories(2);
  const both = memories.hold(['a', 'b']);
  const again = memories.hold(['a']);
  expect(again.a).toEqual(both.a);
  const more = memories.hold(['c']);
  expect([both.a!.memory, both.b!.memory]).not.toContain(more.c!.memory);
  memories.release(both);
  expect(memories.hold(['d']).d!.memory).toBe(both.b!.memory);
  // The second call goes on with a.
  expect(memories.hold(['e']).e!.memory).not.toBe(both.a!.memory);
});

test('a memory that takes another version is empty', () => {
  const memories = new WeightMemories(1);
  const first = memories.hold(['a']);
  const memory = { ...memories.memory(first.a!.memory), thread: 0 };
  expect(isToLayOut(memory)).toBe(true);
  layOutEnded(memory, 100_000);
  memories.release(first);
  const second = memories.hold(['b']);
  expect(memories.memory(second.b!.memory).memory).toBe(memory.memory);
  expect(isToLayOut(memory)).toBe(true);
});

test('where the host has no further memory, one that no call uses takes the version', () => {
  let left = 2;
  let asked = 0;
  const memories = new WeightMemories(4, () => {
    asked++;
    if (left-- > 0) return newSharedMemory();
    throw new RangeError('WebAssembly.Memory(): could not allocate memory');
  });
  const a = memories.hold(['a']);
  const b = memories.hold(['b']);
  expect(() => memories.hold(['c'])).toThrow(RangeError);
  memories.release(b);
  const c = memories.hold(['c']);
  expect(c.c!.memory).toBe(b.b!.memory);
  expect(c.c!.id).not.toBe(b.b!.id);
  memories.release(c);
  // Once refused, the host is asked only while calls use all memories.
  const before = asked;
  memories.release(memories.hold(['f']));
  expect(asked).toBe(before);
  // A call of two versions of which one finds no memory leaves the other to those that come after it.
  expect(() => memories.hold(['d', 'e'])).toThrow(RangeError);
  expect(memories.hold(['e']).e!.memory).toBe(b.b!.memory);
  expect(memories.hold(['a'])).toEqual(a);
});
