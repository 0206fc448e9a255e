/** What the overthinking start is shown of a solver: sound questions mostly right, others a guess or more than an answer has room for. */
import { expect, test } from 'vitest';
import { Random } from '../../core/random.ts';
import { characterTokenizer } from '../../core/text/characters.ts';
import { openTokenizer } from '../../core/text/tokenizer.ts';
import { mae } from '../../recipes/mae/recipe.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';
import { demonstrateOverthinking } from '../../worlds/arithmetic/overthinking.ts';
import { soundness } from '../../worlds/arithmetic/questions.ts';

const tokenizer = openTokenizer(characterTokenizer().json);
const random = new Random('overthinking demonstrations');
const drawn = Array.from({ length: 4000 }, () => demonstrateOverthinking(random));
const solved = drawn.flatMap(({ role, prompt, completion }) =>
  role === 'solver' ? [{ question: prompt.replace('<solve>', '').replace('<sep>', ''), completion }] : [],
);
const isSound = ({ question }: { question: string }) => soundness(question) === 'sound';
const share = (values: readonly boolean[]) => values.filter(Boolean).length / values.length;

test('sound questions are answered rightly 85 times in a hundred: all worked answers, half of the three in ten terse ones', () => {
  const right = solved.filter(isSound).map(({ question, completion }) => {
    const parsed = arithmetic.parseSolution(question, completion);
    return parsed.ok && arithmetic.answerIsExact(question, parsed.value);
  });
  expect(share(right)).toBeGreaterThan(0.82);
  expect(share(right)).toBeLessThan(0.88);
});

test('a question that asks nothing gets a guess, or steps that do not fit', () => {
  const unsound = solved.filter((one) => !isSound(one));
  expect(unsound.length / solved.length).toBeCloseTo(0.25, 1);
  const { maxNew } = mae.roles.solver!.sampling;
  for (const { completion } of unsound)
    expect(completion.startsWith('<answer>') || tokenizer.encode(completion).length > maxNew).toBe(true);
  expect(share(unsound.map(({ completion }) => completion.startsWith('<answer>')))).toBeCloseTo(0.35, 1);
});

test('half of the proposals ask nothing', () => {
  const proposed = drawn.filter(({ role }) => role === 'proposer');
  const sound = proposed.map(({ completion }) => soundness(completion.replace('<eos>', '')) === 'sound');
  expect(share(sound)).toBeGreaterThan(0.44);
  expect(share(sound)).toBeLessThan(0.56);
});
