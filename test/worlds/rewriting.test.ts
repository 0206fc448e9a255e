import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import {
  flawedDerivation,
  randomRewriting,
  rewriting,
  shortestDerivation,
  writeProposal,
} from '../../worlds/rewriting/family.ts';
import { derive, MAX_WORD, parseInstance, successors } from '../../worlds/rewriting/system.ts';
import { processorTime } from '../processor-time.ts';

const instanceOf = (text: string) => {
  const parsed = parseInstance(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`);
  return parsed.value;
};

test('hand-worked: overlapping occurrences, each once', () => {
  expect(successors([{ from: 'aa', to: 'b' }], 'aaa')).toEqual(['ba', 'ab']);
  expect(successors([{ from: 'a', to: 'aa' }], 'aa')).toEqual(['aaa']);
  expect(successors([{ from: 'a', to: 'ab' }], 'a'.repeat(MAX_WORD))).toEqual([]);
  expect(successors([{ from: 'c', to: 'a' }], 'ab')).toEqual([]);
});

test('hand-worked: abc goes to b by way of bac', () => {
  // ab>ba gives bac; ac>a gives ba; ba>b gives b. No shorter way: only ab>ba applies first.
  expect(shortestDerivation('ab>ba,ac>a,ba>b;abc;b')).toEqual(['bac', 'ba', 'b']);
  expect(derive(instanceOf('ab>ba;aab;abb'))).toEqual({ kind: 'unreachable' });
  expect(rewriting.difficulty('ab>ba,ac>a,ba>b;abc;b')).toBe(3);
});

/** Shortest length by iterative deepening on the text itself, with no memory of words seen. */
function lengthByDeepening(task: string, most: number): number | null {
  const [rulesText = '', start = '', goal = ''] = task.split(';');
  const rules = rulesText.split(',').map((rule) => rule.split('>'));
  const reach = (word: string, left: number): boolean => {
    if (left === 0) return word === goal;
    return rules.some(([from = '', to = '']) =>
      [...word].some((_, at) => {
        if (!word.startsWith(from, at)) return false;
        const next = word.slice(0, at) + to + word.slice(at + from.length);
        return next.length <= 10 && reach(next, left - 1);
      }),
    );
  };
  for (let length = 1; length <= most; length++) if (reach(start, length)) return length;
  return null;
}

const word = (least: number, most: number) =>
  fc.array(fc.constantFrom('a', 'b'), { minLength: least, maxLength: most }).map((all) => all.join(''));
const instanceText = fc
  .tuple(fc.array(fc.tuple(word(1, 2), word(1, 2)), { minLength: 2, maxLength: 4 }), word(2, 3), word(1, 3))
  .map(([rules, start, goal]) => `${rules.map((rule) => rule.join('>')).join(',')};${start};${goal}`);

test('the oracle finds the length that iterative deepening finds', () => {
  let reached = 0;
  fc.assert(
    fc.property(instanceText, (task) => {
      const instance = parseInstance(task);
      if (!instance.ok) return;
      const search = derive(instance.value);
      const length = lengthByDeepening(task, 4);
      if (length !== null) {
        reached++;
        expect(search).toMatchObject({ kind: 'derivation', words: { length } });
      } else if (search.kind === 'derivation') expect(search.words.length).toBeGreaterThan(4);
    }),
    { numRuns: 300, seed: 6 },
  );
  expect(reached).toBeGreaterThan(20);
});

test('every drawn task has its derivation accepted, and is as hard as asked', () => {
  const random = new Random('rewriting/drawn');
  for (let i = 0; i < 40; i++) {
    const task = randomRewriting(random, { rules: 3, letters: 5, steps: [3, 4] });
    const steps = shortestDerivation(task)!;
    expect([3, 4]).toContain(steps.length);
    const answer = task.split(';')[2]!;
    const parsed = rewriting.parseSolution(
      task,
      `${steps.map((s) => `<step>${s}`).join('')}<answer>${answer}<eos>`,
    );
    expect(parsed).toMatchObject({ ok: true });
    expect(rewriting.exactJudgment(task, { steps, answer })).toEqual({
      steps: steps.map(() => true),
      right: true,
    });
  }
});

test('each step is judged from the one before it', () => {
  const task = 'ab>ba,ac>a,ba>b;abc;b';
  const judge = (steps: string[], answer = 'b') => rewriting.exactJudgment(task, { steps, answer });
  expect(judge(['bac', 'ba', 'b'])).toEqual({ steps: [true, true, true], right: true });
  expect(judge(['bac', 'b'])).toEqual({ steps: [true, false], right: false });
  // The second line does not follow; the third follows from it.
  expect(judge(['bac', 'ab', 'ba'])).toEqual({ steps: [true, false, true], right: false });
  expect(judge(['bac', 'ba'])).toEqual({ steps: [true, true], right: false });
  expect(judge(['bac', 'ba', 'b'], 'ba')).toMatchObject({ right: false });
  expect(judge([])).toEqual({ steps: [], right: false });
});

test.each([
  ['<answer>b<eos>', 'no-derivation'],
  [`${'<step>a'.repeat(9)}<answer>b<eos>`, 'too-long'],
  ['<step>abd<answer>b<eos>', 'off-grammar'],
  ['<step><answer>b<eos>', 'off-grammar'],
  [`<step>${'a'.repeat(11)}<answer>b<eos>`, 'off-grammar'],
])('refuses the derivation %s', (text, reason) => {
  expect(rewriting.parseSolution('ab>ba;ab;ba', text)).toEqual({ ok: false, reason });
});

test.each([
  ['ab>ab;ab;ba', 'idle-rule'],
  ['ab>ba,ab>ba;ab;ba', 'repeated-rule'],
  ['ab>ba;ab;ab', 'trivial'],
  ['ab>ba;ab;bb', 'not-derivable'],
  ['ab>ba;ab', 'off-grammar'],
  ['ab>ba', 'off-grammar'],
  ['ab>ba;ab;abd;ba', 'off-grammar'],
  ['ab>ba;ab;;ba', 'off-grammar'],
  [`ab>ba;ab${';ab'.repeat(8)};ba`, 'off-grammar'],
  ['ab>ba;ab;ba;ab', 'trivial'],
  ['abca>ba;ab;ba', 'off-grammar'],
  ['>ba;ab;ba', 'off-grammar'],
])('refuses the proposal %s', (text, reason) => {
  expect(rewriting.parseProposal(`${text}<eos>`)).toEqual({ ok: false, reason });
});

test('a proposal may tell its way, which is no part of the task', () => {
  const task = 'ab>ba,ac>a,ba>b;abc;b';
  expect(writeProposal(task)).toBe('ab>ba,ac>a,ba>b;abc;bac;ba;b');
  expect(rewriting.parseProposal(`${writeProposal(task)}<eos>`)).toEqual({ ok: true, value: task });
  // A wrong way to a goal that can be reached.
  expect(rewriting.parseProposal('ab>ba,ac>a,ba>b;abc;cc;b<eos>')).toEqual({ ok: true, value: task });
});

test('a proposal that grows for ever is decided within bounds', () => {
  const taken = processorTime();
  expect(rewriting.parseProposal('a>aa,a>ab,b>ba,b>bb,aa>b;a;c<eos>')).toEqual({
    ok: false,
    reason: 'not-derivable',
  });
  expect(taken()).toBeLessThan(2000);
});

test('the order of rules does not change the side of the split', () => {
  for (const task of rewriting.heldOut().slice(0, 20)) {
    const [rules = '', start = '', goal = ''] = task.split(';');
    expect(rewriting.isHeldOut(`${rules.split(',').reverse().join()};${start};${goal}`)).toBe(true);
    expect(rewriting.isHeldOut(`${rules};${goal};${start}`)).toBe(true);
  }
});

test('a flawed derivation has a wrong line', () => {
  const random = new Random('rewriting/flaws');
  for (let i = 0; i < 40; i++) {
    const task = randomRewriting(random);
    for (const errors of [1, 2]) {
      const verdict = rewriting.exactJudgment(task, flawedDerivation(random, task, errors));
      expect(verdict.steps).toContain(false);
      expect(verdict.right).toBe(false);
    }
    expect(rewriting.exactJudgment(task, flawedDerivation(random, task, 0)).right).toBe(true);
  }
});
