/** What an isolate remembers of leases: for whom, and how much of it. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { SamplingRequest } from '../../core/schema/work.ts';
import { KeptLeases } from '../../workers/gateway/kept-leases.ts';
import type { NodeRow } from '../../workers/store/nodes.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const node = (name: string) => ({ id: name, tokenSha256: sha256(name) }) as NodeRow;
const claim = (name: string, token = name) => ({ id: name, tokenSha256: sha256(token) });
const leased = (id: string, characters = 10) => ({
  id,
  round: 'r',
  group: 'g',
  request: { prompts: [] } as unknown as SamplingRequest,
  engine: 'onnx float32',
  samples: 1,
  characters,
});

test('a lease is known to the node that has it, by its own token, until it is dropped', () => {
  const kept = new KeptLeases();
  kept.keep(node('a'), 'lease-a', [leased('1'), leased('2')]);
  expect(kept.nodeOf(claim('a'))).toEqual(node('a'));
  expect(kept.nodeOf(claim('a', 'guessed'))).toBeUndefined();
  expect(kept.nodeOf(claim('b'))).toBeUndefined();
  expect([...kept.heldBy(node('a'), 'lease-a').keys()]).toEqual(['1', '2']);
  expect(kept.heldBy(node('b'), 'lease-a').size).toBe(0);
  expect(kept.heldBy(node('a'), 'another').size).toBe(0);
  kept.drop('lease-a');
  kept.drop('lease-a');
  expect(kept.nodeOf(claim('a'))).toBeUndefined();
});

test('the oldest leases go where there is no more room, and one that is too large is not kept', () => {
  const kept = new KeptLeases();
  for (let i = 0; i < 5; i++) kept.keep(node('a'), `lease-${i}`, [leased(`${i}`, 600_000)]);
  expect([0, 1, 2, 3, 4].filter((i) => kept.heldBy(node('a'), `lease-${i}`).size)).toEqual([2, 3, 4]);
  kept.keep(node('b'), 'large', [leased('l', 3_000_000)]);
  expect(kept.nodeOf(claim('b'))).toBeUndefined();
  expect(kept.nodeOf(claim('a'))).toEqual(node('a'));
  kept.keep(node('b'), 'small', [leased('s')]);
  expect(kept.heldBy(node('b'), 'small').size).toBe(1);
});
