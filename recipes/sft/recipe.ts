/** sft: supervised fine-tuning on conversations from files. The assistant's tokens are trained on, as the policy's own renderer writes them. */
import * as v from 'valibot';
import { arXiv, type Recipe } from '../../core/recipe/recipe.ts';
import { examineLikelihood, LIKELIHOOD_FIGURES } from '../../protocols/examples/likelihood.ts';
import { conversationSpans, exampleRound } from '../../protocols/examples/round.ts';
import { exampleData, exampleEntries, trainedOn } from '../../protocols/examples/settings.ts';
import { sftPart, updateOf } from '../../protocols/objectives.ts';
import { SOLVER } from '../../protocols/solver.ts';

export const sftSettings = v.strictObject(exampleEntries(2e-5));
export const sftData = exampleData(sftSettings);

/** Throws where the data does not fit the schema, because another version of rollmesh or a person wrote it. */
export function sftFrom(given: unknown): Recipe {
  const data = v.parse(sftData, given);
  const { epochs, examined } = data.settings;
  return {
    ...trainedOn('sft', data),
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
      name: data.name,
      tasks: data,
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
