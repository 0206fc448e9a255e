/** What is recorded beside judgments for the monitors: the oracle's word, whatever pays the judge. Every judge here always says the same. */
import { expect, test } from 'vitest';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { shipped } from '../../recipes/index.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { runningTotals } from '../../worlds/arithmetic/family.ts';
import { scriptedPolicy, textTokenizer } from './scripted-policy.ts';

const total = (task: string) => String(runningTotals(task).at(-1));
const taskIn = (prompt: string) => /^<(?:solve|judge)>([^<]+)<sep>/.exec(prompt)![1]!;

/** Judgments of a round: the prompt of each, and the oracle's word. */
async function judgmentsOf(
  recipe: string,
  rewardFunction: string,
  write: (prompt: string, i: number) => string,
): Promise<{ prompt: string; oracle: { right: boolean; hit: boolean } | undefined }[]> {
  const run = runOf(shipped, {
    recipe,
    rewardFunction,
    seed: 0,
    rounds: 1,
    freeze: [],
    tasks: 6,
    groupSize: 4,
  });
  const tokenizer = textTokenizer();
  const round = roundOf(run.settings, bindingsOf(run.recipe, run.settings), 1, 0);
  const policy = scriptedPolicy(tokenizer, (prompt, _, i) => `${write(prompt, i)}<eos>`);
  const recipeState = () => Promise.resolve(undefined);
  const context = openRoundContext({
    recipe: run.recipe,
    round,
    tokenizer,
    recipeState,
    use: (_, work) => work(policy),
  });
  const { groups } = await playStages(context);
  const judgments = groups.flatMap((group) => group.judgments);
  expect(judgments.length).toBeGreaterThan(8);
  return judgments.map(({ prompt, oracle }) => ({ prompt: tokenizer.decode(prompt), oracle }));
}

/** Right in every second answer. */
const halfRight = (prompt: string, i: number) => `<answer>${i % 2 ? '99' : total(taskIn(prompt))}`;

test('a verifier of solutions, under a coin', async () => {
  const judgments = await judgmentsOf('rise', 'random', (prompt, i) =>
    prompt.startsWith('<solve>') ? halfRight(prompt, i) : '<right>',
  );
  for (const { prompt, oracle } of judgments) {
    const right = prompt.includes(`<answer>${total(taskIn(prompt))}<`);
    expect(oracle).toEqual({ right, hit: right });
  }
  expect(new Set(judgments.map(({ oracle }) => oracle!.right)).size).toBe(2);
});

test('a judge of two answers, of which one is right; none has a word on two wrong ones', async () => {
  const answers = (prompt: string, i: number) => `<answer>${[total(taskIn(prompt)), '98', '99', '99'][i]}`;
  const judgments = await judgmentsOf('self-rewarding', 'judge', (prompt, i) =>
    prompt.startsWith('<solve>') ? answers(prompt, i) : '<answer>A',
  );
  const shown = judgments.map(({ prompt, oracle }) => {
    const [, task, first, second] = /^<judge>([^<]+)<sep>(-?\d+)A<sep>(-?\d+)B<sep>$/.exec(prompt)!;
    return { oracle, right: [first, second].map((answer) => answer === total(task!)) };
  });
  for (const { oracle, right } of shown)
    expect(oracle).toEqual(right.some(Boolean) ? { right: right[0], hit: right[0] } : undefined);
  expect(shown.some(({ oracle }) => oracle === undefined)).toBe(true);
});

test('a judge of constructed pairs, under a coin', async () => {
  const worked = (task: string) => `${runningTotals(task).join('<step>')}<answer>${total(task)}`;
  const judgments = await judgmentsOf('self-taught-evaluators', 'random', (prompt) =>
    prompt.startsWith('<solve>') ? worked(taskIn(prompt)) : '<answer>B',
  );
  for (const { prompt, oracle } of judgments) {
    const [, task, first] = /^<judge>([^<]+)<sep>(-?\d+)A<sep>/.exec(prompt)!;
    const firstRight = first === total(task!);
    expect(oracle).toEqual({ right: firstRight, hit: !firstRight });
  }
});

test('a judge that rates questions and answers, under a coin: nine of ten says right, two of ten wrong', async () => {
  // A score of 1 to 10 is written as one digit.
  for (const [digit, saysRight] of [
    ['8', true],
    ['1', false],
  ] as const) {
    const judgments = await judgmentsOf('mae', 'random', (prompt, i) => {
      if (prompt.startsWith('<propose>')) return '1+2';
      return prompt.startsWith('<solve>') ? `<answer>${i % 2 ? 4 : 3}` : `<answer>${digit}`;
    });
    for (const { prompt, oracle } of judgments) {
      const [, answer] = /<sep>(-?\d+)=<sep>$/.exec(prompt) ?? [];
      // The questions are sound.
      const right = answer === undefined || answer === total(taskIn(prompt));
      expect(oracle).toEqual({ right, hit: right === saysRight });
    }
    expect(new Set(judgments.map(({ oracle }) => oracle!.right)).size).toBe(2);
  }
});
