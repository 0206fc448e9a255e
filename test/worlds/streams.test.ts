import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { isHeldOutDocument } from '../../worlds/documents/family.ts';
import { demonstrateUpdate } from '../../worlds/documents/stream-demonstrations.ts';
import { gates } from '../../worlds/documents/stream-gates.ts';
import {
  drawStream,
  heldOutFacts,
  layerSets,
  numbersOf,
  parseLayers,
  tellings,
  UPDATE_TOKENS,
  writeLayers,
} from '../../worlds/documents/streams.ts';
import { isMet } from '../../worlds/gate.ts';

const ALL = '0 1 2 3 01 02 03 12 13 23 012 013 023 123 0123'.split(' ');

test('every set of four layers can be named, and nothing else', () => {
  expect(layerSets.map((set) => set.join('')).sort()).toEqual([...ALL].sort());
  for (const set of layerSets) expect(parseLayers(writeLayers(set))).toEqual({ ok: true, value: set });
  for (const text of ['<eos>', '4<eos>', '10<eos>', '00<eos>', '0 1<eos>', '01', '01<eos><eos>'])
    expect(parseLayers(text)).toEqual({ ok: false, reason: 'off-grammar' });
});

test('the numbers of a telling are asked for after what stands before them', () => {
  expect(numbersOf('ko2 mi5 tu1 be3 da7')).toEqual([
    { before: 'ko', number: '2' },
    { before: 'ko2 mi', number: '5' },
    { before: 'ko2 mi5 tu', number: '1' },
    { before: 'ko2 mi5 tu1 be', number: '3' },
    { before: 'ko2 mi5 tu1 be3 da', number: '7' },
  ]);
});

test('tellings are different orders of the same facts', () => {
  const told = tellings(new Random('told'), 'ko2 mi5 tu1 be3 da7', 120);
  expect(new Set(told).size).toBe(120);
  for (const telling of told) expect(telling.split(' ').sort().join(' ')).toBe('be3 da7 ko2 mi5 tu1');
});

test('a stream has no name twice', () => {
  for (let i = 0; i < 20; i++) {
    const names = drawStream(new Random(`stream/${i}`)).flatMap((document) =>
      document.split(' ').map((fact) => fact.slice(0, 2)),
    );
    expect([names.length, new Set(names).size]).toEqual([30, 30]);
  }
});

test('an updater is shown all sets of layers about equally often, and no held-out document', () => {
  const random = new Random('shown');
  const shown = Array.from({ length: 6000 }, () => demonstrateUpdate(random)).filter(
    ({ role }) => role === 'updater',
  );
  expect(shown.length / 6000).toBeCloseTo(0.5, 1);
  for (const set of ALL) {
    const share = shown.filter(({ completion }) => completion === `${set}<eos>`).length / shown.length;
    expect(Math.abs(share - 1 / 15)).toBeLessThan(0.02);
  }
  for (const { prompt } of shown)
    expect(isHeldOutDocument(`${/^<propose>(.+)<sep>$/.exec(prompt)![1]}:`)).toBe(false);
  const tokenizer = openTokenizer(characterTokenizer().json);
  expect(Math.max(...shown.map(({ completion }) => tokenizer.encode(completion).length))).toBe(UPDATE_TOKENS);
  for (const document of heldOutFacts()) expect(isHeldOutDocument(`${document}:`)).toBe(true);
});

test('the gates ask whether layers are named, and whether all sets are', async () => {
  const tokenizer = openTokenizer(characterTokenizer().json);
  const met = async (write: (i: number) => string) => {
    let made = 0;
    const measured = await gates({
      tokenizer,
      generate: async (prompts) =>
        prompts.map(({ sampleIds }) =>
          sampleIds.map(() => ({ ids: tokenizer.encode(write(made++)), logprobs: [], stopped: true })),
        ),
    });
    return measured.map(isMet);
  };
  expect(await met((i) => `${ALL[i % 15]}<eos>`)).toEqual([true, true, true]);
  expect(await met((i) => (i % 20 ? `${ALL[i % 15]}<eos>` : 'ko2'))).toEqual([false, true, true]);
  expect(await met((i) => `${ALL[i % 14]}<eos>`)).toEqual([true, false, true]);
  expect(await met((i) => (i % 8 ? `${ALL[i % 15]}<eos>` : '0<eos>'))).toEqual([true, true, false]);
});
