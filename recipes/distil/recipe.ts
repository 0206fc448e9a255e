/**
 * distil: on-policy distillation (Agarwal et al., Generalized Knowledge Distillation, 2024) on questions of files. The policy answers, and at each
 * token of its own answers its distribution is pulled towards that of a teacher. The teacher is a version of another policy with the same tokens, or
 * an earlier version of the policy itself.
 */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../../core/checkers/registry.ts';
import { wrongInput } from '../../core/errors.ts';
import type { DistillationPart, Divergence } from '../../core/plan/training-plan.ts';
import { deriveId } from '../../core/random.ts';
import type { FromFiles } from '../../core/recipe/from-files.ts';
import { arXiv, type Recipe } from '../../core/recipe/recipe.ts';
import { mean } from '../../core/rl/statistics.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { name as policyName } from '../../core/schema/sample.ts';
import { expectSchedule } from '../../protocols/method-settings.ts';
import { updateOf } from '../../protocols/objectives.ts';
import { questionEntries, questionSettings } from '../../protocols/questions/data.ts';
import { rewardsOf } from '../../protocols/questions/reward-data.ts';
import { QUESTION_FIGURES, questionRound } from '../../protocols/questions/round.ts';
import { SOLVER, smallSteps } from '../../protocols/solver.ts';
import { listProgram } from '../../worlds/file/list-program-checker.ts';
import { objectsOfTasks } from '../../worlds/file/stored-tasks.ts';

const TEACHER = 'teacher';
const whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

const { maxNew, temperature, epochs, examined, heldOutSamples, optimizer, adapter } = questionSettings;

/** What `--set` may change. */
const settings = v.strictObject({
  ...{ maxNew, temperature, epochs, examined, heldOutSamples, optimizer, adapter },
  /** The teacher. It has to be named, and is optional in the type only because settings are set one after the other. */
  teacher: v.optional(
    v.strictObject({ policy: v.exactOptional(policyName), version: v.optional(whole, 0) }),
    {},
  ),
  divergence: v.optional(
    v.strictObject({
      kind: v.optional(v.picklist(['reverse-kl', 'forward-kl', 'jensen-shannon']), 'reverse-kl'),
      /** For the Jensen-Shannon divergence: the teacher's share of the mixture. */
      beta: v.optional(v.pipe(v.number(), v.gtValue(0), v.ltValue(1)), 0.5),
    }),
    {},
  ),
  /** Restricts the divergence to the k likeliest tokens, with all other tokens counted as one; absent means the whole vocabulary. */
  top: v.exactOptional(
    v.strictObject({ k: count, of: v.optional(v.picklist(['teacher', 'student']), 'teacher') }),
  ),
});

const data = v.strictObject({ ...questionEntries, settings });
type DistilData = v.InferOutput<typeof data>;

const divergenceOf = ({ kind, beta }: DistilData['settings']['divergence']): Divergence =>
  kind === 'jensen-shannon' ? { kind, beta } : { kind };

/** Throws `distil.teacher` where no teacher is named. */
function recipeOf(given: DistilData): Recipe {
  const { teacher, divergence, top, optimizer, epochs, adapter, maxNew, temperature, examined } =
    given.settings;
  const { heldOutSamples: samples } = given.settings;
  const { policy, version } = teacher;
  if (policy === undefined)
    throw wrongInput('distil.teacher', 'Recipe distil has no teacher.', {
      expected:
        '--set teacher.policy=NAME, a policy of the mesh with the same tokens as the one that is trained',
      next: 'Import one with `npx rollmesh policy import DIR --name NAME`; --set teacher.version=N takes another version than 0.',
    });
  expectSchedule(optimizer);
  const round = questionRound({
    name: given.name,
    tasks: { sources: given.sources, heldOut: given.heldOut },
    checker: findChecker(given.checker, [...CHECKERS, listProgram]),
    extract: given.extract,
    maxNew,
    temperature,
    examined,
    ...(samples ? { heldOutSamples: samples } : {}),
    rewards: rewardsOf(undefined, {}),
  });
  return {
    name: `distil-${deriveId('distil', JSON.stringify(given)).slice(0, 10)}`,
    called: `distil on ${given.name}`,
    title: 'On-policy distillation from another policy',
    paper: arXiv(
      '2306.13649',
      'On-Policy Distillation of Language Models: Learning from Self-Generated Mistakes',
      2024,
    ),
    summary:
      'A policy answers questions, and at each token of its own answers it learns the distribution of a teacher, such as a larger policy.',
    method: {
      setting:
        'Questions come from files. The policy and its teacher are any that the mesh can run, as long as they have the same tokens.',
      roles: `The solver answers each question of a round as often as the group is large. The teacher, ${policy}@${version}, writes nothing: the learner reads from it how likely each token is after what the solver wrote.`,
      rewards: 'None that teaches. What the checker says of the answers is reported.',
      credit: 'Every token that the solver wrote counts the same, its end included.',
      objective: `The ${divergence.kind} divergence between the two next-token distributions${top ? `, over the ${top.k} tokens that the ${top.of} finds likeliest` : ''}, as a mean over tokens. The gradient does not pass through the sampling.`,
      schedule: 'Each round draws fresh questions and trains on all of their answers.',
    },
    differences: [
      'All answers are the student’s own; the paper also mixes answers of a data set or of the teacher.',
      'The teacher reads the student’s prompt and tokens as they are, so both need the same tokenizer.',
    ],
    figures: QUESTION_FIGURES,
    startPolicy: given.start,
    tasks: 32,
    groupSize: 2,
    ...objectsOfTasks(given),
    sets: { [MAIN_SET]: { optimizer: smallSteps(optimizer), ...(adapter ? { adapter } : {}) } },
    ...round,
    roles: {
      ...round.roles,
      [TEACHER]: {
        description: `is imitated, and writes nothing; it is ${policy}@${version} and is not trained`,
        sampling: { maxNew, temperature },
        teaches: true,
      },
    },
    bindings: () => ({ [TEACHER]: { fixed: { name: policy, version } } }),
    learn: ({ groups, round: { settings } }) => {
      const samples = groups.flatMap((group) => group.samples).filter(({ ids }) => ids.length > 0);
      const part: DistillationPart = {
        kind: 'distillation',
        role: SOLVER,
        weight: 1,
        items: samples.map(({ prompt, ids }) => ({ prompt, ids })),
        teacher: { ...(policy === settings.policy ? {} : { policy }), set: MAIN_SET, version },
        divergence: divergenceOf(divergence),
        ...(top ? { top } : {}),
      };
      return {
        updates: updateOf([part], { epochs }),
        figures: samples.length ? { tokens: mean(samples.map(({ ids }) => ids.length)) } : {},
      };
    },
  };
}

export const distil: FromFiles = {
  reads: 'questions',
  needs: ['answer'],
  settings,
  data,
  make: (given) => recipeOf(v.parse(data, given)),
  noSum: 'nobody is paid, since it learns from a teacher',
};
