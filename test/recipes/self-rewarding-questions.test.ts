/** self-rewarding on questions of files: the policy grades its own answers by points, and learns from the best against the worst. */
import { expect, test } from 'vitest';
import type { LearnTools, PreferencePart } from '../../core/plan/training-plan.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { registry } from '../../core/recipe/registry.ts';
import { openRoundContext } from '../../core/recipe/round-context.ts';
import { playStages } from '../../core/round/play-stages.ts';
import { roundOf } from '../../core/schema/round.ts';
import { recipeFrom } from '../../recipes/from-files.ts';
import { bindingsOf, runOf } from '../../recipes/run-order.ts';
import { chatOf, SAY, sayTask } from './say.ts';

const recipe = recipeFrom({
  from: 'self-rewarding',
  data: { ...SAY, sources: [{ weight: 1, tasks: [sayTask('Say one', 'one', 1)] }] },
});
const chat = chatOf(1024);

/** Plays a round in which the policy writes these answers, and grades each as it is said. */
async function play(grades: Readonly<Record<string, string>>, rewardFunction?: string) {
  const answers = Object.keys(grades);
  const { settings } = runOf(registry([recipe]), {
    recipe: recipe.name,
    seed: 0,
    rounds: 1,
    freeze: [],
    policy: 'p',
    tasks: 1,
    groupSize: answers.length,
    ...(rewardFunction === undefined ? {} : { rewardFunction }),
  });
  const round = roundOf(settings, bindingsOf(recipe, settings), 4, 3);
  const written = (text: string): Completion => {
    const ids = chat.tokenizer.encode(`${text}<|im_end|>`);
    return { ids, logprobs: ids.map(() => -1), stopped: true };
  };
  const context = openRoundContext({
    recipe,
    round,
    ...chat,
    recipeState: () => Promise.resolve(undefined),
    use: (ref, work) =>
      work({
        ref,
        generate: async (prompts) =>
          prompts.map(({ ids, sampleIds }) => {
            const prompt = chat.tokenizer.decode(ids);
            const shown = /Answer:\n(\w+)/.exec(prompt)?.[1];
            return shown === undefined ? answers.map(written) : sampleIds.map(() => written(grades[shown]!));
          }),
        score: () => Promise.reject(new Error('nothing is scored')),
        dispose: () => Promise.resolve(),
      }),
  });
  const { proposals, groups } = await playStages(context);
  const plan = await recipe.learn(
    { round, proposals, groups, recipeState: undefined, version: 3 },
    {} as LearnTools,
  );
  return { group: groups[0]!, plan, text: (ids: readonly number[]) => chat.tokenizer.decode([...ids]) };
}

test('the best answer by its own points is preferred to the worst, against the version that wrote them', async () => {
  const { group, plan, text } = await play({
    one: 'Fine. <answer>4</answer>',
    two: '<answer>1</answer>',
    three: 'I cannot tell.',
    four: '<answer>5</answer>',
  });
  expect(group.samples.map(({ rewards }) => rewards.reward)).toEqual([0.8, 0.2, null, 1]);
  expect(group.samples[2]!.missing).toEqual({ reward: 'unreadable' });
  expect(group.judgments.map(({ role, policy }) => [role, policy.name, policy.version])).toEqual(
    new Array(4).fill(['judge', 'p', 3]),
  );
  // The checker's word stands beside, and decides nothing.
  expect(group.answersExact).toEqual([true, false, false, false]);
  const part = plan.updates[0]!.parts[0] as PreferencePart;
  expect(part).toMatchObject({ objective: { kind: 'dpo', beta: 0.1 }, reference: { version: 3 } });
  expect(part.pairs.map(({ chosen, rejected }) => [text(chosen.ids), text(rejected.ids)])).toEqual([
    ['four<|im_end|>', 'two<|im_end|>'],
  ]);
  expect(plan.figures).toEqual({ pairs: 1, ungraded: 1 });
});

test('the control by gold needs no judge, and equal grades make no pair', async () => {
  const { group, plan } = await play({ one: '', two: '' }, 'gold');
  expect(group.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 0]);
  expect(group.judgments).toEqual([]);
  expect(plan.figures).toEqual({ pairs: 1, ungraded: 0 });
  const { plan: equal } = await play({ one: '<answer>3</answer>', two: '<answer>3</answer>' });
  expect(equal.updates).toEqual([]);
});
