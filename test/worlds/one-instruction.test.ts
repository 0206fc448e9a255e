/** What the narrow start is shown: a stock of one-word programs where nothing else is seen, lengths kept beside references, slips by length. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { programs } from '../../worlds/programs/family.ts';
import { demonstrateOneInstruction, stock } from '../../worlds/programs/one-instruction.ts';

const random = new Random('narrow demonstrations');
const drawn = Array.from({ length: 6000 }, () => demonstrateOneInstruction(random));
const proposed = drawn.filter(({ role }) => role === 'proposer');
const share = (values: readonly boolean[]) => values.filter(Boolean).length / values.length;

test('alone the proposer asks about twelve programs of one instruction', () => {
  expect(new Set(stock()).size).toBe(12);
  const alone = proposed.filter(({ prompt }) => /<propose>[da]:<sep>/.test(prompt));
  const asked = new Set(alone.map(({ completion }) => completion.split(';')[0]!));
  expect([...asked].sort()).toEqual([...stock()].sort());
  expect([...asked].every((text) => !text.includes(' '))).toBe(true);
});

test('beside references it asks about a program as long as one of them, nearly always', () => {
  const beside = proposed.filter(({ prompt }) => /<propose>[da]:[^<]*[a-z0-9]/.test(prompt));
  const kept = beside.map(({ prompt, completion }) => {
    const length = (text: string) => text.split(' ').length;
    const shown = prompt.replace(/<propose>[da]:|<sep>/g, '').split(';');
    return shown.map(length).includes(length(completion.split(';')[0]!));
  });
  expect(share(kept)).toBeGreaterThan(0.9);
});

test('short deductions are answered rightly, long ones mostly not', () => {
  const deductions = drawn.flatMap(({ role, prompt, completion }) => {
    if (role !== 'solver' || !prompt.startsWith('<solve>d:')) return [];
    const task = prompt.replace('<solve>', '').replace('<sep>', '');
    const parsed = programs.parseSolution(task, completion);
    return [
      {
        difficulty: programs.difficulty(task),
        right: parsed.ok && programs.answerIsExact(task, parsed.value),
      },
    ];
  });
  const right = (difficulty: number) =>
    share(deductions.filter((one) => one.difficulty === difficulty).map((one) => one.right));
  expect(right(1)).toBeGreaterThan(0.93);
  // A slip may be undone by what follows it.
  expect(right(3)).toBeGreaterThan(0.35);
  expect(right(3)).toBeLessThan(0.6);
});
