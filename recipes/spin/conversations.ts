/**
 * spin on conversations from files, for any policy: the opponent answers the conversations' prompts, and the files' own answers are preferred to its
 * answers.
 */
import * as v from 'valibot';
import type { FromFiles } from '../../core/recipe/from-files.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import type { AdmittedTask, RolloutGroup } from '../../core/schema/sample.ts';
import { examineLikelihood, LIKELIHOOD_FIGURES } from '../../protocols/examples/likelihood.ts';
import { conversationSpans, exampleRound, lastSpan } from '../../protocols/examples/round.ts';
import { exampleData, exampleEntries, trainedOn } from '../../protocols/examples/settings.ts';
import { readTask } from '../../worlds/questions/task-text.ts';
import { EPOCHS, OPPONENT, PLAYER, PUBLISHED_LAMBDA, planIteration, spin } from './recipe.ts';

const positive = v.pipe(v.number(), v.minValue(Number.MIN_VALUE), v.finite());
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

const settings = v.strictObject({
  ...exampleEntries(5e-7),
  epochs: v.optional(count, EPOCHS),
  /** Longest answer of the opponent in tokens, its end included. */
  maxNew: v.optional(count, 256),
  lambda: v.optional(positive, PUBLISHED_LAMBDA),
});
const data = exampleData(settings);

/** Samples one answer of the opponent to the prompt of each conversation; none where prompt, answer and the file's answer do not fit. */
async function answer(
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  maxNew: number,
): Promise<RolloutGroup[]> {
  const renderer = context.renderer();
  const asked = tasks.map((task) => {
    const { prompt, ids } = lastSpan(renderer, readTask(task.task));
    const fits = prompt.length + Math.max(maxNew, ids.length) <= context.contextLength;
    return { task, prompt, fits, id: rolloutId(task.group, OPPONENT, 0) };
  });
  const fitting = asked.filter(({ fits }) => fits);
  const completions = await context.generate(
    OPPONENT,
    fitting.map(({ prompt, id }) => ({ ids: prompt, sampleIds: [id] })),
  );
  const answers = new Map(fitting.map((one, i) => [one.id, completions[i]![0]!]));
  return asked.map(({ task, prompt, id }) => {
    const completion = answers.get(id);
    const outcome = completion?.stopped ? 'ok' : 'cut-off';
    const samples = completion ? [sampleOf(context, OPPONENT, id, prompt, completion, outcome)] : [];
    return { round: context.round.id, ...task, samples };
  });
}

function recipeOf(given: v.InferOutput<typeof data>): Recipe {
  const { epochs, examined, maxNew, lambda } = given.settings;
  const { stop: _stop, describe: _describe, ...recipe } = spin;
  return {
    ...recipe,
    ...trainedOn('spin', given),
    method: {
      ...recipe.method!,
      setting: `Conversations come from files (${given.name}); the last answer of each is the data’s response. The policy is any that the mesh can train, and it is asked by its own chat template.`,
      objective:
        'The loss of a pair is -log σ(λ [log p(y)/p_t(y) - log p(y’)/p_t(y’)]), where p_t is the opponent, which is also the reference, and λ = 0.1 unless the settings say otherwise.',
      schedule:
        'A round is an iteration: every conversation comes once before any comes again, and the pairs of a round are trained together with those of the round before.',
    },
    differences: [
      'AdamW instead of RMSprop, at the paper’s first step size, which does not fall unless the settings say so.',
      'Pairs in which the opponent wrote the data’s response word for word are left out: their gradient is zero.',
    ],
    figures: {
      pairs: spin.figures!.pairs!,
      tooLong: 'Number of examples that were left out because they do not fit into the policy’s context.',
      ...LIKELIHOOD_FIGURES,
    },
    ...{ tasks: 32, groupSize: 1 },
    variants: { sft: recipe.variants!.sft! },
    ...exampleRound({
      role: PLAYER,
      name: given.name,
      tasks: given,
      examined,
      spans: conversationSpans,
      // Plain supervised fine-tuning raises this likelihood, too.
      examine: examineLikelihood,
    }),
    rewards: recipe.rewards,
    roles: {
      [PLAYER]: role('is trained', maxNew),
      [OPPONENT]: role('the previous iterate, answers the prompts', maxNew),
    },
    freezable: recipe.freezable!,
    rollOut: (context, tasks) => answer(context, tasks, maxNew),
    learn: (records, tools) => {
      const dataOf = (task: string) => lastSpan(tools.renderer(), readTask(task));
      const plan = planIteration(records, dataOf, { lambda, epochs });
      const tooLong = records.groups.filter(({ samples }) => samples.length === 0).length;
      return { ...plan, figures: { ...plan.figures, tooLong } };
    },
  };
}

export const spinOnConversations: FromFiles = {
  reads: 'conversations',
  needs: ['conversations'],
  settings,
  data,
  make: (given) => recipeOf(v.parse(data, given)),
};
