import { beforeAll, describe, expect, test } from 'vitest';
import type { Policy, SamplingSettings } from '../../core/policy/policy.ts';
import {
  after,
  both,
  grammarKey,
  oneOf,
  packGrammar,
  someOf,
  type TokenGrammar,
  unpackGrammar,
  untilText,
} from '../../core/text/token-grammar.ts';
import { randomTensors, smallConfig } from '../model/checkpoints.ts';
import { referenceLogits, softmax } from '../model/reference.ts';
import { TESTED_ENGINES } from './engines.ts';

/** What a grammar makes of a sequence: refused, not yet ended, or ended (with its last token). */
function read(grammar: TokenGrammar, ids: readonly number[]): 'refused' | 'open' | 'ended' {
  let state = 0;
  for (const [i, id] of ids.entries()) {
    state = after(grammar, state, id);
    if (state < 0) return 'refused';
    if (grammar.ends[state]) return i === ids.length - 1 ? 'ended' : 'refused';
  }
  return 'open';
}

describe('grammars', () => {
  test('one of several sequences', () => {
    const grammar = oneOf([[1, 2, 3], [1, 4], [5]], 8);
    expect(
      [[1], [1, 2], [1, 2, 3], [1, 4], [5], [2], [1, 5], [1, 4, 4]].map((ids) => read(grammar, ids)),
    ).toEqual(['open', 'open', 'ended', 'ended', 'ended', 'refused', 'refused', 'refused']);
    for (const sequences of [[[1], [1, 2]], [[1, 2], [1]], [[1], [1]], [[]]])
      expect(() => oneOf(sequences, 8)).toThrow(expect.objectContaining({ code: 'grammar.prefix' }));
    expect(() => oneOf([[8]], 8)).toThrow(expect.objectContaining({ code: 'grammar.token' }));
  });

  test('between two and three of a set, then an end', () => {
    const grammar = someOf([2, 3], { least: 2, most: 3, end: 0, vocabSize: 6 });
    const parses = [[0], [2, 0], [2, 3], [2, 3, 0], [3, 3, 3, 0], [2, 2, 2, 2], [4]].map((ids) =>
      read(grammar, ids),
    );
    expect(parses).toEqual(['refused', 'refused', 'open', 'ended', 'ended', 'refused', 'refused']);
  });

  test('until a text, wherever tokens cut it', () => {
    const texts = ['a', 'b', 'ab', 'ba', 'aab', 'c'];
    const grammar = untilText(['abba', 'cc'], texts);
    // Every sequence of up to five tokens, against a plain search in its text.
    const all = (length: number): number[][] =>
      length === 0 ? [[]] : all(length - 1).flatMap((ids) => texts.map((_, id) => [...ids, id]));
    const textOf = (ids: readonly number[]) => ids.map((id) => texts[id]).join('');
    const has = (ids: readonly number[]) => /abba|cc/.test(textOf(ids));
    for (const length of [1, 2, 3, 4, 5])
      for (const ids of all(length)) {
        if (has(ids.slice(0, -1))) continue;
        expect(read(grammar, ids), textOf(ids)).toBe(has(ids) ? 'ended' : 'open');
      }
  });

  test('classes of tokens, not tokens, have transitions, and travel as JSON', () => {
    // 150,000 tokens of which few stand where a stop string may begin, go on or end.
    const texts = Array.from({ length: 150_000 }, (_, id) => `w${id.toString(36)}`);
    texts.splice(70_000, 6, '\n', '\n\n', 'Quest', 'ion:', ' a\n\nQuestion: b', '');
    const grammar = untilText(['\n\nQuestion:'], texts);
    expect(grammar.states).toBe(12);
    expect(grammar.next.reduce((sum, row) => sum + row.length, 0)).toBeLessThan(200);
    const packed = JSON.stringify(packGrammar(grammar));
    expect(packed.length).toBeLessThan(2000);
    const again = unpackGrammar(JSON.parse(packed));
    expect(again).toEqual(grammar);
    expect(grammarKey(again)).toBe(grammarKey(grammar));
    expect(grammarKey(untilText(['\nQuestion:'], texts))).not.toBe(grammarKey(grammar));
    const of = (...ids: number[]) => read(again, ids);
    expect(of(70_001, 70_002, 70_003)).toBe('ended');
    expect(of(70_000, 70_000, 70_002, 70_005, 70_003)).toBe('ended');
    expect(of(5, 70_004)).toBe('ended');
    expect(of(70_001, 70_002, 5, 70_003)).toBe('open');
    for (const torn of [
      { ...packGrammar(grammar), rest: 99 },
      { ...packGrammar(grammar), next: [[0]] },
      { ...packGrammar(oneOf([[1]], 3)), vocabSize: 1 },
    ])
      expect(() => unpackGrammar(torn)).toThrow(expect.objectContaining({ code: 'grammar.packed' }));
  });

  test('two at once', () => {
    const grammar = both(someOf([1, 2], { least: 0, most: 9, end: 0, vocabSize: 4 }), oneOf([[1, 2, 1]], 4));
    expect([[1, 2, 1], [1, 1], [0], [1, 2]].map((ids) => read(grammar, ids))).toEqual([
      'ended',
      'refused',
      'refused',
      'open',
    ]);
    // From the start 1, 2 and 1 lead on, and nothing else.
    expect(grammar.states).toBe(4);
  });

  test('two that are too large together are refused', () => {
    const twice = oneOf(
      Array.from({ length: 800 }, (_, id) => [id, id]),
      800,
    );
    expect(() => both(twice, twice)).toThrow(expect.objectContaining({ code: 'grammar.size' }));
  });
});

describe.each(TESTED_ENGINES)('a policy of $name under a grammar', ({ open }) => {
  const config = smallConfig({ num_hidden_layers: 2 });
  const tensors = randomTensors(config);
  let policy: Policy;
  beforeAll(async () => {
    policy = await open(config, tensors);
    return () => policy.dispose();
  });
  const ids = [7, 3, 9, 1];
  const sampleIds = Array.from({ length: 60 }, (_, i) => `g/${i}`);
  const generate = async (settings: Partial<SamplingSettings>) =>
    (await policy.generate([{ ids, sampleIds }], { maxNew: 8, temperature: 1, stop: [], ...settings }))[0]!;
  const digits = [10, 11, 12, 13, 14];
  const number = someOf(digits, { least: 1, most: 4, end: 2, vocabSize: 64 });

  test('keeps to it, ends with it, and states the log-probabilities of what is left', async () => {
    const samples = await generate({ grammar: number, temperature: 0.8 });
    expect(new Set(samples.map((sample) => sample.ids.length)).size).toBeGreaterThan(2);
    for (const sample of samples) {
      expect(sample.stopped).toBe(true);
      expect(read(number, sample.ids)).toBe('ended');
    }
    for (const sample of samples.slice(0, 3)) {
      const logits = referenceLogits(config, tensors, [...ids, ...sample.ids]);
      sample.ids.forEach((id, i) => {
        const allowed = i === 0 ? digits : i === 4 ? [2] : [2, ...digits];
        const left = softmax(allowed.map((other) => logits[ids.length - 1 + i]![other]! / 0.8));
        expect(sample.logprobs[i]).toBeCloseTo(Math.log(left[allowed.indexOf(id)]!), 4);
      });
    }
  });

  test('greedy, truncated and stopped by a token', async () => {
    const [greedy] = await generate({ grammar: number, temperature: 0 });
    const logits = referenceLogits(config, tensors, ids).at(-1)!;
    expect(greedy!.ids[0]).toBe(digits.reduce((best, id) => (logits[id]! > logits[best]! ? id : best)));
    const [first] = digits.toSorted((a, b) => logits[b]! - logits[a]!);
    for (const { ids: made, logprobs } of await generate({ grammar: number, topK: 1 })) {
      expect(made[0]).toBe(first);
      expect(logprobs.every((x) => x === 0)).toBe(true);
    }
    for (const sample of await generate({ grammar: number, stop: [12] })) {
      const at = sample.ids.indexOf(12);
      if (at >= 0) expect([at, sample.stopped]).toEqual([sample.ids.length - 1, true]);
    }
  });

  test('a grammar that only ends changes no bits before its end', async () => {
    const texts = Array.from({ length: 64 }, (_, id) => String.fromCharCode(65 + (id % 26)));
    const free = await generate({});
    const stopped = await generate({ grammar: untilText(['AB', 'Q'], texts) });
    expect(stopped.some((sample) => sample.stopped)).toBe(true);
    stopped.forEach((sample, i) => {
      expect(sample.ids).toEqual(free[i]!.ids.slice(0, sample.ids.length));
      expect(sample.logprobs).toEqual(free[i]!.logprobs.slice(0, sample.ids.length));
      expect(/AB|Q/.test(sample.ids.map((id) => texts[id]).join(''))).toBe(sample.stopped);
    });
  });

  test('keeps tables for the states that rows are in alone', async () => {
    // Sixty sequences that part at once: more states than rows, and other ones at every turn.
    const sequences = Array.from({ length: 60 }, (_, i) => [i + 1, (7 * i) % 60, (11 * i) % 60, 62, 63]);
    const grammar = oneOf(sequences, 64);
    const some = sampleIds.slice(0, 9);
    const settings = { maxNew: 8, temperature: 1, stop: [], grammar };
    const [samples] = await policy.generate([{ ids, sampleIds: some }], settings);
    expect(new Set(samples!.map(({ ids: [first] }) => first)).size).toBeGreaterThan(4);
    for (const sample of samples!) {
      expect(sample.stopped).toBe(true);
      expect(sequences).toContainEqual(sample.ids);
    }
  });

  test('refuses a grammar it cannot follow', async () => {
    await expect(generate({ grammar: oneOf([[1]], 65) })).rejects.toMatchObject({
      code: 'grammar.vocabulary',
    });
    const deadEnd = {
      vocabSize: 64,
      states: 1,
      classOf: new Int32Array(64),
      next: [Int32Array.of(-1)],
      ends: [false],
    };
    await expect(generate({ grammar: deadEnd })).rejects.toMatchObject({ code: 'grammar.dead-end' });
  });
});
