/** The world of compositions: its functions by hand, its texts, its split, and an oracle that agrees with one of another make. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { demonstrateMix } from '../../worlds/composition/demonstrations.ts';
import {
  composition,
  DEEPEST_TRAINED,
  depthOf,
  exactSolution,
  examOf,
  randomTask,
} from '../../worlds/composition/family.ts';
import { ALONE, FUNCTIONS, LETTERS, NESTED } from '../../worlds/composition/functions.ts';
import { parseSolution, writeSolution } from '../../worlds/composition/text.ts';
import { compositionTokenizer } from '../../worlds/composition/tokenizer.ts';

/** What each function makes of `abch`, by hand; the alphabet ends at `h`, after which `a` comes again. */
const BY_HAND: Readonly<Record<string, readonly [rule: string, of: string]>> = {
  f00: ['halves change places', 'chab'],
  f01: ['the letter before', 'habg'],
  f02: ['ends change places', 'hbca'],
  f03: ['first doubled, last dropped', 'aabc'],
  f04: ['the next letter', 'bcda'],
  f05: ['first half mirrored', 'abba'],
  f06: ['first two change places', 'bach'],
  f07: ['last two change places', 'abhc'],
  f08: ['first half repeated', 'abab'],
  f09: ['second, fourth, first, third', 'bhac'],
  f10: ['rotated to the left', 'bcha'],
  f11: ['reversed', 'hcba'],
  f12: ['the next letter at both ends', 'bbca'],
  f13: ['both pairs change places', 'bahc'],
  f14: ['rotated to the right', 'habc'],
  f15: ['first dropped, last doubled', 'bchh'],
};

const answerOf = (task: string) => exactSolution(task).answer;

test.each(Object.entries(BY_HAND))('%s: %s', (name, [, wanted]) => {
  expect(answerOf(`${name} of abch`)).toBe(wanted);
});

test('every function has a row above, and no two are the same', () => {
  expect(Object.keys(BY_HAND)).toEqual(FUNCTIONS);
  expect(new Set(Object.values(BY_HAND).map(([, of]) => of)).size).toBe(FUNCTIONS.length);
  expect([...NESTED, ...ALONE]).toEqual(FUNCTIONS);
});

test('hand-worked: f07 of f12 of bdca', () => {
  // The ends one letter on: cdcb. Then the last two change places: cdbc.
  const text = 'f12 gives cdcb. f07 gives cdbc. Answer: cdbc<eos>';
  const task = 'f07 of f12 of bdca';
  expect(`${writeSolution(exactSolution(task))}<eos>`).toBe(text);
  expect(composition.solverPrompt(task)).toBe('<start>What is f07 of f12 of bdca? ');
  const judged = (solution: string) => {
    const parsed = parseSolution(`${solution}<eos>`);
    if (!parsed.ok) throw new Error(parsed.reason);
    return [composition.answerIsExact(task, parsed.value), composition.exactJudgment(task, parsed.value)];
  };
  const verdict = (steps: boolean[], right: boolean) => ({ steps, right });
  expect(judged('f12 gives cdcb. f07 gives cdbc. Answer: cdbc')).toEqual([true, verdict([true, true], true)]);
  // A wrong string is marked once: what follows from it is right.
  expect(judged('f12 gives cdca. f07 gives cdac. Answer: cdac')).toEqual([
    false,
    verdict([false, true], false),
  ]);
  // Another call, a step too few, a step too many, an answer that is not the last string, and no steps.
  expect(judged('f12 gives cdcb. f06 gives dccb. Answer: dccb')).toEqual([
    false,
    verdict([true, false], false),
  ]);
  expect(judged('f12 gives cdcb. Answer: cdcb')).toEqual([false, verdict([true], false)]);
  expect(judged('f12 gives cdcb. f07 gives cdbc. f07 gives cdcb. Answer: cdcb')).toEqual([
    false,
    verdict([true, true, false], false),
  ]);
  expect(judged('f12 gives cdcb. f07 gives cdca. Answer: cdbc')).toEqual([
    true,
    verdict([true, false], false),
  ]);
  expect(judged('Answer: cdbc')).toEqual([true, verdict([], false)]);
});

test('a proposal is refused by kind', () => {
  const said = (text: string) => {
    const parsed = composition.parseProposal(text);
    return parsed.ok ? parsed.value : parsed.reason;
  };
  expect(said('f07 of f12 of bdca<eos>')).toBe('f07 of f12 of bdca');
  for (const text of [
    'f07 of f12 of bdca',
    'f16 of bdca<eos>',
    'f07 of bdci<eos>',
    'f07 of bdcaa<eos>',
    'bdca<eos>',
  ])
    expect(said(text)).toBe('off-grammar');
  // Reversed twice is the string again; halves of a repeated half; one call alone may not give the string back.
  for (const text of ['f11 of f11 of bdca<eos>', 'f00 of f08 of bdca<eos>', 'f06 of bbca<eos>'])
    expect(said(text)).toBe('gives-away');
  // f08 repeats the first half, which f07 leaves as it is.
  expect(said('f08 of f07 of bdca<eos>')).toBe('gives-away');
  expect(said(`${'f04 of '.repeat(DEEPEST_TRAINED + 1)}bdca<eos>`)).toBe('too-long');
});

/** An oracle over indices and shifts instead of strings: [places, what is added to each place]. */
const AFFINE: Readonly<Record<string, readonly [places: string, add: string]>> = {
  f00: ['2301', '0000'],
  f01: ['0123', '7777'],
  f02: ['3120', '0000'],
  f03: ['0012', '0000'],
  f04: ['0123', '1111'],
  f05: ['0110', '0000'],
  f06: ['1023', '0000'],
  f07: ['0132', '0000'],
  f08: ['0101', '0000'],
  f09: ['1302', '0000'],
  f10: ['1230', '0000'],
  f11: ['3210', '0000'],
  f12: ['0123', '1001'],
  f13: ['1032', '0000'],
  f14: ['3012', '0000'],
  f15: ['1233', '0000'],
};

test('compositions of any depth have the answers of an oracle that composes places and shifts first', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...FUNCTIONS), { minLength: 1, maxLength: 8 }),
      fc.string({ unit: fc.constantFrom(...LETTERS), minLength: 4, maxLength: 4 }),
      (calls, text) => {
        let [places, add] = [
          [0, 1, 2, 3],
          [0, 0, 0, 0],
        ];
        for (const call of [...calls].reverse()) {
          const [from, plus] = AFFINE[call]!;
          [places, add] = [
            [...from].map((i) => places[Number(i)]!),
            [...from].map((i, at) => add[Number(i)]! + Number(plus[at])),
          ];
        }
        const wanted = places.map((p, at) => LETTERS[(LETTERS.indexOf(text[p]!) + add[at]!) % 8]).join('');
        expect(answerOf([...calls, text].join(' of '))).toBe(wanted);
      },
    ),
  );
});

test('no text makes the family throw, and what parses is written again as it was', () => {
  const piece = fc.constantFrom(
    ...[
      ...FUNCTIONS,
      ...LETTERS,
      ' of ',
      ' gives ',
      '. ',
      'Answer: ',
      'abcd',
      'f03 gives abcd. ',
      '<eos>',
      ' ',
    ],
  );
  const near = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), near), near, (text, task) => {
      const solution = composition.parseSolution(task, text);
      if (solution.ok) {
        expect(`${writeSolution(solution.value)}<eos>`).toBe(text);
        const { steps } = composition.exactJudgment(task, solution.value);
        expect(steps).toHaveLength(solution.value.steps.length);
        composition.answerIsExact(task, solution.value);
      }
      composition.parseProposal(text);
      composition.isHeldOut(text);
      composition.difficulty(text);
      expect(composition.exactJudgment(text, { steps: [text], answer: text }).right).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test('tasks to train on and tasks to measure share neither string nor calls, and there is a depth for measurement alone', () => {
  const random = new Random('composition/split');
  for (let i = 0; i < 200; i++) {
    const task = composition.random(random);
    expect(composition.isHeldOut(task)).toBe(false);
    expect(composition.parseProposal(`${task}<eos>`)).toEqual({ ok: true, value: task });
    expect(composition.isHeldOut(randomTask(random, 1 + (i % 6), FUNCTIONS, true))).toBe(true);
  }
  const held = composition.heldOut();
  expect(new Set(held).size).toBe(held.length);
  expect([1, 2, 3, 4, 5, 6].map((depth) => held.filter((task) => depthOf(task) === depth).length)).toEqual(
    new Array(6).fill(held.length / 6),
  );
  expect(held.every((task) => composition.isHeldOut(task))).toBe(true);
  expect(composition.heldOut({ heldOut: true, most: 7 })).toEqual(held.slice(0, 7));
  const pilot = composition.heldOut({ heldOut: false, most: 1000 });
  expect(pilot.some((task) => composition.isHeldOut(task))).toBe(false);
  expect(Math.max(...pilot.map(depthOf))).toBe(DEEPEST_TRAINED);
});

test('what is demonstrated asks of no held-out string, and solves no question of several calls', () => {
  const random = new Random('composition/shown');
  const tokenizer = openTokenizer(compositionTokenizer().json);
  const mix = { solutions: 4, steps: 4, readOuts: 4, walks: 4, proposals: 4, judgments: 4 };
  const shown = Array.from({ length: 40 }, () => demonstrateMix(random, mix)).flat();
  const strings = new Set<string>();
  for (const { role, prompt, completion, given } of shown) {
    const ids = tokenizer.encode(prompt + completion);
    expect(tokenizer.decode(ids)).toBe(prompt + completion);
    expect([...tokenizer.encode(prompt), ...tokenizer.encode(completion)]).toEqual(ids);
    if (role === 'proposer') {
      const proposed = composition.parseProposal(completion);
      expect(proposed.ok && depthOf(proposed.value) <= 3 && !composition.isHeldOut(proposed.value)).toBe(
        true,
      );
      continue;
    }
    const [, verb, task, rest] = /^<start>([A-Z][a-z ]+) (f\d\d of .*?)\? (.*)$/.exec(prompt)!;
    strings.add(task!.slice(-4));
    const names = task!.split(' of ').slice(0, -1);
    if (role === 'judge') {
      const judged = parseSolution(`${rest!.slice(0, -2)}<eos>`);
      if (!judged.ok) throw new Error(judged.reason);
      const { steps, right } = composition.exactJudgment(task!, judged.value);
      const words = steps.map((ok) => (ok ? '<ok>' : '<bad>')).join('') + (right ? '<right>' : '<wrong>');
      expect(completion).toBe(`${words}<eos>`);
      continue;
    }
    if (given && completion.endsWith('Answer: ')) {
      // A walk: the calls are those of the question and learnt; what stands for their results is read only, and no result at all.
      const before = given.map(([from], i) => completion.slice(given[i - 1]?.[1] ?? 0, from));
      expect(before.map((text) => /^(?:\. )?(f\d\d) gives $/.exec(text)?.[1])).toEqual(names.reverse());
      expect(completion.slice(given.at(-1)![1])).toBe('. Answer: ');
      expect(names.length).toBeLessThanOrEqual(2);
      continue;
    }
    if (given) {
      // Steps: the calls are read, and what each makes of the string before it is learnt, wherever it stands.
      const calls = given.map(([from, to]) => /^(f\d\d) gives $/.exec(completion.slice(from, to))![1]!);
      const learnt = given.map(([, to], i) => completion.slice(to, given[i + 1]?.[0]));
      let before = task!.slice(-4);
      calls.forEach((call, i) => {
        expect(learnt[i]).toBe(`${answerOf(`${call} of ${before}`)}. `);
        before = learnt[i]!.slice(0, 4);
      });
      expect(calls).toHaveLength(DEEPEST_TRAINED);
      continue;
    }
    const walked = [...completion.matchAll(/(f\d\d) (?:keeps|gives)/g)].map(([, name]) => name!);
    expect(walked).toEqual(names.reverse());
    if (verb !== 'What is') {
      expect(completion).not.toContain('gives');
      continue;
    }
    expect(names).toHaveLength(1);
    expect(composition.isHeldOut(task!)).toBe(false);
    const parsed = parseSolution(completion);
    expect(parsed.ok && composition.exactJudgment(task!, parsed.value).right).toBe(true);
  }
  for (const task of examOf(1, FUNCTIONS)) expect(strings).not.toContain(task.slice(-4));
});
