import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { demonstrateEnvironments } from '../../worlds/programs/environment-demonstrations.ts';
import {
  differentReferences,
  drawSeeds,
  environmentOfTask,
  environments,
  isHeldOutEnvironment,
  isSound,
  likeness,
  mechanicalFault,
  parseEnvironment,
  parseProposedEnvironment,
  parseReview,
  questionOf,
  randomEnvironment,
  tasksOf,
} from '../../worlds/programs/environments.ts';
import { anyText } from './any-text.ts';

test('an environment is a kind and two programs', () => {
  expect(parseProposedEnvironment('d:sort;rev +3<eos>')).toEqual({ ok: true, value: 'd:sort;rev +3' });
  const reason = (text: string) => {
    const parsed = parseEnvironment(text);
    return parsed.ok ? 'ok' : parsed.reason;
  };
  expect(reason('a:sort;rev +3')).toBe('ok');
  expect(reason('i:sort;rev +3')).toBe('no-kind');
  expect(reason('sort;rev +3')).toBe('no-kind');
  expect(reason('d:sort')).toBe('off-grammar');
  expect(reason('d:sort;rev;rev')).toBe('off-grammar');
  expect(reason('d:sort;rev +')).toBe('off-grammar');
  expect(reason('d:(;rev')).toBe('unbalanced');
  expect(parseProposedEnvironment('d:sort;rev +3').ok).toBe(false);
});

test('the layers refuse, in their order', () => {
  expect(mechanicalFault('d:+1;rev +3')).toBeNull();
  expect(mechanicalFault('a:+1;+2')).toBeNull();
  // One of the eight seeds has one element, and `drop drop` takes two; `sub` in the sampler takes two as well.
  expect(mechanicalFault('d:+1;drop drop')).toBe('undefined');
  expect(mechanicalFault('d:sub;rev')).toBe('undefined');
  // The seeds have one, two or three elements: three different answers, all zeros.
  expect(mechanicalFault('d:+1;*0')).toBe('unvaried');
  // The sampler makes three instances, whatever the reference does with them.
  expect(mechanicalFault('d:*0;len sum')).toBe('unvaried');
  // What is shown is sorted already; and a sorted list is an input that sorts to it. Where an unsorted one is shown, it is no answer.
  expect(mechanicalFault('d:sort;sort')).toBe('gives-away');
  expect(mechanicalFault('a:+1;sort')).toBe('gives-away');
  expect(mechanicalFault('d:sort;rev')).toBeNull();
});

test('a reference with an instruction that never matters is not sound', () => {
  for (const sound of ['d:+1;rev +3', 'd:+1;-2', 'd:len;sum', 'd:+1;len sum', 'd:+1;( -1 )'])
    expect([sound, isSound(sound)]).toEqual([sound, true]);
  // *1 changes nothing; what was sorted is sorted; a sum of one number is that number; nothing on a list that the sampler has sorted.
  for (const idle of ['d:+1;-2 *1', 'd:+1;sort sort', 'd:+1;sum sum', 'd:sort;sort +1'])
    expect([idle, isSound(idle)]).toEqual([idle, false]);
});

test('likeness compares the instructions of references and their neighbours', () => {
  // rev, +, rev-before-+: digits, kind and sampler do not count.
  expect(likeness('d:+1;rev +3', 'a:sort;rev +4')).toBeCloseTo(1);
  // One of three features: 1/√3. Two of three: 2/3. Three of three among five: 3/√15.
  expect(likeness('d:+1;rev +3', 'd:+1;rev')).toBeCloseTo(1 / Math.sqrt(3));
  expect(likeness('d:+1;rev +3', 'd:+1;+3 rev')).toBeCloseTo(2 / 3);
  expect(likeness('d:+1;rev +3', 'd:+1;rev +3 sort')).toBeCloseTo(3 / Math.sqrt(15));
  expect(likeness('d:+1;rev', 'd:+1;sort')).toBe(0);
  expect(differentReferences(['d:+1;rev +3', 'a:sort;rev +4', 'd:+1;+3 rev'])).toBe(2);
});

test('a seed makes a task, which is a question about the reference', () => {
  const text = 'd:sort;rev +3;2 1;5';
  expect(environmentOfTask(text)).toBe('d:sort;rev +3');
  expect(tasksOf(text)).toEqual(['d:sort;rev +3;2 1', 'd:sort;rev +3;5']);
  expect(questionOf('d:sort;rev +3;2 1')).toBe('d:rev +3;1 2');
  expect(environments.solverPrompt('d:sort;rev +3;2 1')).toBe('<solve>d:rev +3;1 2<sep>');
  const right = (task: string, answer: string) => environments.answerIsExact(task, { steps: [], answer });
  expect(right('d:sort;rev +3;2 1', '5 4')).toBe(true);
  expect(right('d:sort;rev +3;2 1', '4 5')).toBe(false);
  // 1 2 is planted, and its sum is shown: any list with that sum will do.
  expect(environments.solverPrompt('a:sort;sum;2 1')).toBe('<solve>a:sum;3<sep>');
  expect([right('a:sort;sum;2 1', '1 2'), right('a:sort;sum;2 1', '3')]).toEqual([true, true]);
  expect(right('a:sort;sum;2 1', '1 1')).toBe(false);
  expect(environments.difficulty('d:sort;rev +3;2 1')).toBe(2);
});

test('a review is one verdict', () => {
  expect(parseReview('<right><eos>')).toEqual({ ok: true, value: true });
  expect(parseReview('<wrong><eos>')).toEqual({ ok: true, value: false });
  for (const text of ['<right>', '<eos>', '<right><wrong><eos>', 'right<eos>'])
    expect(parseReview(text).ok, text).toBe(false);
});

test('random environments pass the layers, on their side of the split, and have instances for all seeds that are drawn', () => {
  const random = new Random('environments');
  for (let i = 0; i < 60; i++) {
    const environment = randomEnvironment(random, i % 2 === 1);
    expect(mechanicalFault(environment)).toBeNull();
    expect(isHeldOutEnvironment(environment)).toBe(i % 2 === 1);
    for (const seed of drawSeeds(random, environment, 5))
      expect(questionOf(`${environment};${seed}`)).not.toBe('');
  }
  const heldOut = environments.heldOut();
  expect(heldOut).toHaveLength(150);
  expect(heldOut.every(environments.isHeldOut)).toBe(true);
});

test('a seed without an instance is replaced by one that was tried', () => {
  // A list of one element has no instance, and 5 alone among those that were tried is one.
  const drawn = drawSeeds(new Random('seeds'), 'd:swap;rev', 50);
  expect(drawn.filter((seed) => !seed.includes(' ') && seed !== '5')).toEqual([]);
});

test('no text makes the family throw', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      parseProposedEnvironment(text);
      parseReview(text);
      expect(environments.isHeldOut(text)).toBe(false);
      expect(environments.solverPrompt(text)).toBe('');
      expect(environments.answerIsExact(text, { steps: [], answer: text })).toBe(false);
      environments.parseSolution(text, text);
      environments.difficulty(text);
    }),
    { numRuns: 300 },
  );
});

test('demonstrations: every role, in grammar, on the training side; reviews are exact and even, and layers refuse some proposals', () => {
  const random = new Random('demonstrations');
  const counts = { proposer: 0, judge: 0, solver: 0 };
  let [admitted, sound, right] = [0, 0, 0];
  for (let i = 0; i < 800; i++) {
    const { role, prompt, completion } = demonstrateEnvironments(random);
    counts[role as keyof typeof counts]++;
    if (role === 'proposer') {
      const parsed = parseProposedEnvironment(completion);
      if (!parsed.ok) throw new Error(completion);
      expect(isHeldOutEnvironment(parsed.value)).toBe(false);
      admitted += Number(mechanicalFault(parsed.value) === null);
    } else if (role === 'judge') {
      const environment = /^<judge>e:(.+)<sep>$/.exec(prompt)![1]!;
      expect(parseReview(completion)).toEqual({ ok: true, value: isSound(environment) });
      sound += Number(isSound(environment));
    } else {
      const [, kind, question] = /^<solve>([da]):(.+)<sep>$/.exec(prompt)!;
      // The identity as the sampler gives the list that a deduction shows.
      if (kind === 'd') {
        const at = question!.lastIndexOf(';');
        const task = `d:+0;${question!.slice(0, at)};${question!.slice(at + 1)}`;
        const parsed = environments.parseSolution(task, completion);
        if (!parsed.ok) throw new Error(completion);
        right += Number(environments.answerIsExact(task, parsed.value));
      }
    }
  }
  expect(counts.proposer / 800).toBeCloseTo(0.3, 1);
  expect(counts.judge / 800).toBeCloseTo(0.25, 1);
  expect(sound / counts.judge).toBeCloseTo(0.5, 1);
  expect(admitted / counts.proposer).toBeGreaterThan(0.3);
  expect(admitted / counts.proposer).toBeLessThan(0.8);
  expect(right).toBeGreaterThan(0);
});
