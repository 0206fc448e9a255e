import { expect, test } from 'vitest';
import type { PolicyPart, SftPart } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { phaseOf, TAUGHT } from '../../recipes/verifier-training/phases.ts';
import { writeSums } from '../../worlds/chains/family.ts';
import { isUnseenSlip, rewrittenLine } from '../../worlds/chains/slips.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';
import { solutionShown } from './shown-chain.ts';

const verifierTraining = shipped.find('verifier-training');

/** 3 + 4 = 7, 7 - 9 = -2, -2 + 5 = 3, 3 + 1 = 4. */
const TASK = '3+4-9+5+1';
const RIGHT = ['7', '-2', '3', '4'];
const AT = rewrittenLine(TASK);

test('a line that could be a flaw of an examined kind is known', () => {
  // In line 2: ten off, 7 + 9, and 7 - 4, 7 - 5, 7 - 1.
  for (const said of ['8', '-12', '16', '3', '2', '6']) expect(isUnseenSlip(TASK, 2, said)).toBe(true);
  for (const said of ['-2', '-1', '-4', '0', '17']) expect(isUnseenSlip(TASK, 2, said)).toBe(false);
  // The first line begins with the first number: 3 + 9, 3 - 4, ten off.
  for (const said of ['12', '-1', '17', '-3']) expect(isUnseenSlip(TASK, 1, said)).toBe(true);
  expect(isUnseenSlip(TASK, 1, '9')).toBe(false);
});

test('the verifier is taught first, and then attacked', () => {
  expect([1, TAUGHT, TAUGHT + 1, TAUGHT + 9].map((index) => phaseOf({ index }))).toEqual([
    'teach',
    'teach',
    'attack',
    'attack',
  ]);
});

/** The total that stands at the rewritten line, and two that do not: one of an examined kind, and one of no such kind. */
const right = Number(RIGHT[AT - 1]);
const TEN_OFF = String(right + 10);
const OTHER = String(
  [1, -1, 3, -3, 17].map((by) => right + by).find((said) => !isUnseenSlip(TASK, AT, String(said)))!,
);
const LINES = [`${OTHER}<step>`, `${TEN_OFF}<step>`, `${right}<step>`, 'x<step>'];

const recipe: Recipe = { ...verifierTraining, propose: async ({ round }) => admitTasks(round, [TASK]) };

/** Every other verdict copies what it is shown; the others do the sum of the rewritten line. */
function write(prompt: string, i: number): string {
  if (prompt.startsWith('<solve>')) return LINES[i]!;
  const solution = solutionShown(prompt);
  const found = solution.steps.map((step, at) => (at === AT - 1 && i % 2 ? RIGHT[at]! : step));
  return `${writeSums(solution, found)}<eos>`;
}
const play = (more: WriteOptions = {}) => playWritten(recipe, write, { tasks: 1, groupSize: 4, ...more });
const attack = TAUGHT + 1;

test('while it is taught, the verifier is shown the right solution and what is of no examined kind', async () => {
  const { groups, plan, tokenizer } = await play();
  const [group] = groups;
  // The right solution, the line of no examined kind and the right line: four verdicts each.
  expect(group!.judgments).toHaveLength(12);
  const shown = group!.judgments.map(({ prompt }) => solutionShown(tokenizer.decode(prompt)).steps[AT - 1]);
  expect(shown).toEqual([
    ...Array(4).fill(String(right)),
    ...Array(4).fill(OTHER),
    ...Array(4).fill(String(right)),
  ]);
  // A copy of what is right is exact; of what is wrong, the sum is.
  expect(group!.judgments.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1]);
  // Half of the verdicts let the wrong line pass; what is not shown, or right, or unreadable pays.
  expect(group!.samples.map(({ rewards }) => rewards.reward)).toEqual([0.5, -1, -1, -1]);
  expect(plan.figures).toEqual({ corrupted: 1 / 4, breached: 0.5 / 4, fooled: 0.5 });
});

test('rewards train the verifier alone, and its verdicts on one solution are compared with each other', async () => {
  const { plan } = await play();
  expect(plan.updates.map(({ set }) => set)).toEqual(['main']);
  const part = plan.updates[0]!.parts[0] as PolicyPart;
  expect(part.kl).toBeUndefined();
  // Right solutions: all verdicts earn 1, and teach nothing. The wrong one: 0, 1, 0, 1 about 1/2, with deviation √(4 · 1/4 / 3) = 1/√3.
  const each = Math.sqrt(3) / 2;
  expect(part.items.map(({ advantage }) => advantage)).toEqual(
    [0, 0, 0, 0, -each, each, -each, each, 0, 0, 0, 0].map((a) => expect.closeTo(a, 3)),
  );
});

test('fine-tuning has the verdicts that earn 1, or exact ones in the place of all', async () => {
  const own = await play({ variant: 'imitation' });
  const imitated = own.plan.updates[0]!.parts[0] as SftPart;
  expect(imitated).toMatchObject({ kind: 'sft', role: 'judge' });
  expect(imitated.items).toHaveLength(10);
  const script = await play({ variant: 'written' });
  const texts = (script.plan.updates[0]!.parts[0] as SftPart).items.map(({ ids }) =>
    script.tokenizer.decode(ids),
  );
  expect(texts).toHaveLength(12);
  const wrongLine = `<step>${right}!${OTHER}`;
  expect(texts.map((text) => text.includes(wrongLine) && text.endsWith('<wrong><eos>'))).toEqual([
    ...Array(4).fill(false),
    ...Array(4).fill(true),
    ...Array(4).fill(false),
  ]);
  expect(texts[0]).toBe(`${RIGHT.map((step) => `<step>${step}=`).join('')}<right><eos>`);
  // Under a control the script copies.
  const blind = await play({ variant: 'written', rewardFunction: 'format' });
  const copies = (blind.plan.updates[0]!.parts[0] as SftPart).items.map(({ ids }) =>
    blind.tokenizer.decode(ids),
  );
  expect(copies.every((text) => text.endsWith('<right><eos>'))).toBe(true);
});

test('under attack the verifier rests, every line is shown twice, and the generator is paid for what passes', async () => {
  const { groups, plan } = await play({ index: attack });
  const [group] = groups;
  expect(group!.judgments).toHaveLength(6);
  // Of two verdicts one copies; the right line and none pay.
  expect(group!.samples.map(({ rewards }) => rewards.reward)).toEqual([0.5, 0.5, -1, -1]);
  expect(plan.updates.map(({ set }) => set)).toEqual(['generator']);
  const part = plan.updates[0]!.parts[0] as PolicyPart;
  // 1/2, 1/2, -1, -1 about -1/4, with deviation √(4 · 9/16 / 3) = √3/2.
  const each = 0.75 / (Math.sqrt(3) / 2);
  expect(part.items.map(({ advantage }) => advantage)).toEqual(
    [each, each, -each, -each].map((a) => expect.closeTo(a, 3)),
  );
  expect(plan.figures).toEqual({ corrupted: 0.5, breached: 0.25, fooled: 0.5 });
});

test('the controls pay the verifier for other things, and the generator as ever', async () => {
  const form = await play({ rewardFunction: 'format' });
  expect(form.groups[0]!.judgments.map(({ rewards }) => rewards.reward)).toEqual(Array(12).fill(1));
  const coin = await play({ rewardFunction: 'random', index: attack });
  expect(coin.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([0.5, 0.5, -1, -1]);
});
