import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { demonstratePuzzles } from '../../worlds/arithmetic/puzzles.ts';

/** `3+4-9` -> [7, -2], by JavaScript on its beginnings. */
const totals = (task: string): number[] =>
  Array.from({ length: (task.length - 1) / 2 }, (_, i) =>
    Number(new Function(`return ${task.slice(0, 2 * i + 3)}`)()),
  );
const numbersIn = (text: string) =>
  text
    .replace(/<answer>.*/, '')
    .split('<step>')
    .slice(1);

test('demonstrations keep what a puzzle shows at its place, and slip more often in later steps', () => {
  const random = new Random('puzzles');
  const counts = { alone: 0, fill: 0, sort: 0 };
  const wrong = [0, 0];
  const asked = [0, 0];
  for (let i = 0; i < 10_000; i++) {
    const { role, prompt, completion } = demonstratePuzzles(random);
    const [, task, shown] = /^<solve>(.*?)<sep>(?:(.*)<sep>)?$/.exec(prompt)!;
    const parsed = arithmetic.parseSolution(task!, completion);
    if (!parsed.ok) throw new Error(completion);
    expect([role, arithmetic.isHeldOut(task!)]).toEqual(['solver', false]);
    if (shown === undefined) {
      counts.alone++;
      continue;
    }
    const right = totals(task!);
    const steps = parsed.value.steps.map(Number);
    const listed = numbersIn(shown);
    expect(listed).toHaveLength(right.length);
    const hidden = listed.flatMap((step, place) => (step === '' ? [place] : []));
    if (hidden.length === 0) {
      counts.sort++;
      expect(listed.map(Number).sort()).toEqual([...right].sort());
    } else {
      counts.fill++;
      expect(hidden).toHaveLength(Math.ceil(right.length / 2));
      for (const place of right.keys())
        if (!hidden.includes(place))
          expect([listed[place], steps[place]]).toEqual([`${right[place]}`, right[place]]);
    }
    for (const [at, place] of [0, 4].entries())
      if (place < right.length && (hidden.length === 0 || hidden.includes(place))) {
        asked[at]!++;
        wrong[at]! += Number(steps[place] !== right[place]);
      }
  }
  expect(counts.alone / 10_000).toBeCloseTo(0.5, 1);
  expect(counts.fill / 10_000).toBeCloseTo(0.25, 1);
  expect(wrong[0]! / asked[0]!).toBeCloseTo(0.1, 1);
  expect(wrong[1]! / asked[1]!).toBeCloseTo(0.5, 1);
});
