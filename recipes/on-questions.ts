/**
 * Recipes on questions of files as plain data, from which every process makes the same recipe: grpo as `recipes/grpo` has it, and
 * those recipes whose method needs no more of a task than a question, a checker, and a policy that can be asked in messages.
 */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../core/checkers/registry.ts';
import { wrongInput } from '../core/errors.ts';
import { deriveId } from '../core/random.ts';
import type { Recipe } from '../core/recipe.ts';
import { type QuestionGame, questionGame } from '../protocols/questions/game.ts';
import { program } from '../tasks/file/program-checker.ts';
import { readQuestion } from '../tasks/words/read-question.ts';
import { WORDS } from '../tasks/words/task-set.ts';
import { dapoOn } from './dapo/recipe.ts';
import { genrmOn } from './genrm/on-questions.ts';
import { grpoSettings, questionEntries } from './grpo/from-data.ts';
import { maeOn } from './mae/on-questions.ts';
import { primeOn } from './prime/recipe.ts';
import { rZeroOn } from './r-zero/on-questions.ts';
import { riseOn } from './rise/recipe.ts';
import { selfRewardingOn } from './self-rewarding/on-questions.ts';
import { sppoOn } from './sppo/on-questions.ts';
import { tangoOn } from './tango/recipe.ts';
import { trioOn } from './trio/on-questions.ts';
import { ttrlOn } from './ttrl/recipe.ts';

const ON_QUESTIONS = {
  dapo: dapoOn,
  genrm: genrmOn,
  mae: maeOn,
  prime: primeOn,
  'r-zero': rZeroOn,
  rise: riseOn,
  'self-rewarding': selfRewardingOn,
  sppo: sppoOn,
  tango: tangoOn,
  trio: trioOn,
  ttrl: ttrlOn,
} as const satisfies Record<string, (game: QuestionGame) => Recipe>;
type QuestionRecipe = keyof typeof ON_QUESTIONS;
export const QUESTION_RECIPES = Object.keys(ON_QUESTIONS) as readonly QuestionRecipe[];

export const isQuestionRecipe = (name: string): name is QuestionRecipe => Object.hasOwn(ON_QUESTIONS, name);

/** What the others would need of a file or of a policy, which no file of questions has. */
const MISSING: Readonly<Record<string, string>> = {
  azr: 'programs that the policy writes and an interpreter runs',
  'one-shot': 'a family that can say which of its tasks teaches most',
  ragen: 'an environment of several turns',
  'self-taught-evaluators': 'a policy that was taught to compare two answers in the notation of its family',
  ssp: 'a search tool and its documents',
};

/** Throws `run.tasks`, saying what the recipe lacks on files of questions. */
export function refuseQuestions(recipe: string): never {
  const missing = MISSING[recipe];
  throw wrongInput(
    'run.tasks',
    `Recipe ${recipe} takes no files of tasks${missing ? `: it needs ${missing}` : ''}.`,
    {
      expected: `one of ${['grpo', 'distil', ...QUESTION_RECIPES].join(', ')}, which train on files`,
      next: 'Choose another --recipe, or leave the files out.',
    },
  );
}

/** What `--set` may change of a recipe that has its own method. */
export const questionRecipeSettings = v.strictObject({
  maxNew: grpoSettings.entries.maxNew,
  examined: grpoSettings.entries.examined,
  optimizer: grpoSettings.entries.optimizer,
  adapter: grpoSettings.entries.adapter,
});

export const questionRecipeData = v.strictObject({
  recipe: v.picklist(QUESTION_RECIPES),
  ...questionEntries,
  settings: questionRecipeSettings,
});
export type QuestionRecipeData = v.InferOutput<typeof questionRecipeData>;

/** Same data, same name. */
export const questionRecipeName = (data: QuestionRecipeData): string =>
  `${data.recipe}-${deriveId(data.recipe, JSON.stringify(data)).slice(0, 10)}`;

/** Throws where the data is none: it was written by another version of rollmesh, or by hand. */
export function questionRecipeFrom(given: unknown): Recipe {
  const data = v.parse(questionRecipeData, given);
  const { maxNew, examined, optimizer, adapter } = data.settings;
  const recipe = ON_QUESTIONS[data.recipe](
    questionGame({
      name: data.name,
      tasks: { sources: data.sources, heldOut: data.heldOut },
      checker: findChecker(data.checker, [...CHECKERS, program]),
      extract: data.extract,
      maxNew,
      examined,
      // Only the generated questions start from this policy: with files it is named by the run.
      ...(data.start === WORDS ? { readProposal: readQuestion } : {}),
    }),
  );
  const sets = Object.entries(recipe.sets).map(([name, set]) => [
    name,
    {
      ...set,
      optimizer: { ...set.optimizer, ...optimizer },
      // What reads a head is trained whole.
      ...(adapter && !set.head ? { adapter } : {}),
    },
  ]);
  return {
    ...recipe,
    name: questionRecipeName(data),
    startPolicy: data.start,
    sets: Object.fromEntries(sets),
    ...(recipe.method && {
      method: {
        ...recipe.method,
        setting: `Questions and reference answers come from files (${data.name}); the policy is asked in messages by its own chat template. A solution counts as one step, and a verifier answers yes or no to the whole.`,
      },
    }),
  };
}
