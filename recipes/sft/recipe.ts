/** sft: supervised fine-tuning on conversations from files. The assistant's tokens are trained on, as the policy's own renderer writes them. */
import * as v from 'valibot';
import { episodesOf } from '../../core/episodes/play-episodes.ts';
import type { RoundRecords } from '../../core/plan/training-plan.ts';
import type { FromFiles } from '../../core/recipe/from-files.ts';
import { arXiv, type EpisodeMethod, type Recipe } from '../../core/recipe/recipe.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { returnOf } from '../../protocols/episode-credit.ts';
import { examineLikelihood, LIKELIHOOD_FIGURES } from '../../protocols/examples/likelihood.ts';
import { conversationSpans, exampleRound } from '../../protocols/examples/round.ts';
import { exampleData, exampleEntries, trainedOn } from '../../protocols/examples/settings.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import { SOLVER, smallSteps } from '../../protocols/solver.ts';

const settings = v.strictObject(exampleEntries(2e-5));
const data = exampleData(settings);

/** The episodes of each group that are imitated: the best one by return, or all above the mean; none where all returns are equal. */
const imitated = (groups: RoundRecords['groups'], variant: string | undefined): Sample[][] =>
  groups.flatMap(({ samples }) => {
    const episodes = episodesOf(samples).flatMap((turns) => {
      const reward = returnOf(turns);
      return reward === null ? [] : [{ turns, reward }];
    });
    const level = mean(episodes.map(({ reward }) => reward));
    const above = episodes.filter(({ reward }) => reward > level);
    const best = Math.max(...above.map(({ reward }) => reward));
    const chosen =
      variant === 'above-mean' ? above : above.filter(({ reward }) => reward === best).slice(0, 1);
    return chosen.map(({ turns }) => turns);
  });

/** On episodes that agents hold: the best ones are imitated. */
export const sftInEpisodes: EpisodeMethod = {
  title: 'Supervised fine-tuning on the best of an agent’s episodes',
  paper: arXiv('2304.06767', 'RAFT: Reward rAnked FineTuning for Generative Foundation Model Alignment'),
  summary:
    'Agents hold several episodes of each task, and the policy learns to write what it wrote in the best of them.',
  method: {
    setting:
      'Programs outside the mesh hold the episodes of tasks from files, in as many turns as they like.',
    roles: 'The solver answers agents, which hold several episodes of each task.',
    rewards: 'What the agent posts at the end of its episode.',
    credit:
      'Of each task the episode with the highest reward is imitated, the first of several. A task whose episodes are paid alike teaches nothing.',
    objective:
      'The negative log-likelihood of all answers of that episode, as a mean over the tokens of an optimiser step. What the policy was asked carries no loss.',
    schedule: 'Each round goes once over the chosen episodes, which are its own.',
  },
  differences: [
    'A task whose episodes all have the same reward is left out; in the paper the first of its answers is imitated.',
    'Rewards are an agent’s, and may be of whole episodes.',
  ],
  figures: { imitated: 'Number of episodes that are trained on.' },
  variants: { 'above-mean': 'every episode whose reward is above the mean of its task is imitated' },
  sets: { [MAIN_SET]: { optimizer: smallSteps() } },
  learn: ({ groups, round }) => {
    const episodes = imitated(groups, round.settings.variant);
    const items = episodes.flat().map(({ prompt, ids }) => ({ prompt, ids }));
    return { updates: updateOf([sftPart(SOLVER, items)]), figures: { imitated: episodes.length } };
  },
};

function recipeOf(given: v.InferOutput<typeof data>): Recipe {
  const { epochs, examined } = given.settings;
  return {
    ...trainedOn('sft', given),
    inEpisodes: sftInEpisodes,
    title: 'Supervised fine-tuning on conversations',
    paper: arXiv('2203.02155', 'Training language models to follow instructions with human feedback'),
    summary: 'A policy learns to write the assistant’s messages of conversations from files.',
    method: {
      setting: 'Conversations come from files. The policy is any that the mesh can train.',
      roles: 'Nobody samples: a round’s groups hold the tokens of its conversations.',
      rewards: 'None.',
      credit:
        'Every token that the assistant wrote counts the same, its end included; all others carry no loss.',
      objective: 'The negative log-likelihood, as a mean over the tokens of an optimiser step.',
      schedule: 'Every conversation is learned from once before any comes again.',
    },
    differences: ['This is the first of the paper’s three steps.'],
    figures: {
      tooLong: 'Number of examples that were left out because they do not fit into the policy’s context.',
      ...LIKELIHOOD_FIGURES,
    },
    tasks: 32,
    groupSize: 1,
    ...exampleRound({
      name: given.name,
      tasks: given,
      examined,
      spans: conversationSpans,
      examine: examineLikelihood,
    }),
    learn: ({ groups }) => {
      const whole = groups.filter(({ samples }) => samples.every(({ outcome }) => outcome === 'ok'));
      const items = whole.flatMap(({ samples }) => samples.map(({ prompt, ids }) => ({ prompt, ids })));
      return {
        updates: updateOf([sftPart(SOLVER, items)], { epochs }),
        figures: { tooLong: groups.length - whole.length },
      };
    },
  };
}

export const sft: FromFiles = {
  reads: 'conversations',
  needs: ['conversations'],
  settings,
  data,
  make: (given) => recipeOf(v.parse(data, given)),
};
