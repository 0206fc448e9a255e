/**
 * Recipes on questions of files as plain data, from which every process makes the same recipe: grpo, as `recipes/grpo` defines it, and those recipes
 * whose method needs nothing of a task but a question, a checker, and a policy that can be asked in messages.
 */
import * as v from 'valibot';
import { CHECKERS, findChecker } from '../core/checkers/registry.ts';
import { wrongInput } from '../core/errors.ts';
import { deriveId } from '../core/random.ts';
import type { Recipe } from '../core/recipe.ts';
import type { BoundedModule } from '../core/reward-function.ts';
import { hostedQuestions } from '../protocols/hosted-answers.ts';
import { withCurriculum } from '../protocols/questions/curriculum.ts';
import { type QuestionGame, questionGame } from '../protocols/questions/game.ts';
import { paidBySum } from '../protocols/questions/paid-by-sum.ts';
import { rewardSum, sumOf } from '../protocols/questions/reward-data.ts';
import { program } from '../tasks/file/program-checker.ts';
import { parseQuestion } from '../tasks/words/parse-question.ts';
import { isWordsPolicy } from '../tasks/words/task-set.ts';
import { dapoOn, passed } from './dapo/recipe.ts';
import { genrmOn } from './genrm/on-questions.ts';
import { grpoSettings, questionEntries } from './grpo/from-data.ts';
import { maeOn } from './mae/on-questions.ts';
import { primeOn } from './prime/recipe.ts';
import { rZeroOn } from './r-zero/on-questions.ts';
import { riseOn } from './rise/recipe.ts';
import { sdpoOn } from './sdpo/recipe.ts';
import { selfRewardingOn } from './self-rewarding/on-questions.ts';
import { sppoOn } from './sppo/on-questions.ts';
import { srpoRouteOn } from './srpo-route/recipe.ts';
import { tangoOn } from './tango/recipe.ts';
import { trioOn } from './trio/on-questions.ts';
import { ttrlOn } from './ttrl/recipe.ts';

/**
 * dapo calls an answer right or wrong by its reward without the length penalty; for a weighted sum and every other reward it compares the rewards as
 * they are.
 */
const compared = ({ recipe, rewards }: Pick<QuestionRecipeData, 'recipe' | 'rewards'>) =>
  recipe === 'dapo' && !rewards ? passed : undefined;

const ON_QUESTIONS = {
  dapo: dapoOn,
  genrm: genrmOn,
  mae: maeOn,
  prime: primeOn,
  'r-zero': rZeroOn,
  rise: riseOn,
  sdpo: sdpoOn,
  'self-rewarding': selfRewardingOn,
  sppo: sppoOn,
  'srpo-route': srpoRouteOn,
  tango: tangoOn,
  trio: trioOn,
  ttrl: ttrlOn,
} as const satisfies Record<string, (game: QuestionGame) => Recipe>;
type QuestionRecipe = keyof typeof ON_QUESTIONS;
export const QUESTION_RECIPES = Object.keys(ON_QUESTIONS) as readonly QuestionRecipe[];

export const isQuestionRecipe = (name: string): name is QuestionRecipe => Object.hasOwn(ON_QUESTIONS, name);

/** What the other recipes would need that a file of questions does not have. */
const MISSING: Readonly<Record<string, string>> = {
  aprm: 'solutions of which a checker can say line by line what is right',
  azr: 'programs that the policy writes and an interpreter runs',
  cepo: 'a right solution of every task, written out in the notation of its family',
  'co-reward': 'every question a second time in other words',
  cosplay: 'problems whose programs and tests an interpreter runs',
  'dsmath-v2': 'proofs of which a checker can say line by line what is right',
  eva: 'prompts that a creator can rewrite in the notation of its family',
  evoenv: 'environments that the policy writes as programs and an interpreter runs',
  'fb-align': 'a checker that says where an attempt goes wrong, and corrects it there',
  igrpo: 'a policy that was taught to read a draft in the notation of its family',
  laser: 'a token of the tokenizer that nothing else uses',
  'llama-rl':
    'chains of sums, on which it measures a delay; grpo does the same on files with --variant aipo and --ahead',
  'mr-rlvr': 'a worked solution of every task, whose steps can be hidden and shuffled',
  'one-shot': 'a family that can say which of its tasks teaches most',
  'q-evolve': 'an environment of several turns',
  'qg-scst': 'documents with an answer marked in them, about which a question is written',
  'qwen-prm': 'solutions of which a checker can say line by line what is right',
  ragen: 'an environment of several turns',
  'real-tg': 'graphs whose links have times',
  rewardharness: 'rules of which a program can say whether they hold for a response',
  rlp: 'documents in which some characters can be computed from those before them',
  rlsp: 'attempts in which it can count how often all steps are done again',
  rrpo: 'responses in which an error can be planted by the exchange of a word',
  sage: 'a right solution of every task, of which a part is a hint',
  sar: 'a prompt of its family without the question, under which answers are scored again',
  scir: 'a policy that was taught to score responses in the notation of its family',
  scma: 'a policy that was taught to cut an answer into chunks and to score them',
  'sd-zero': 'a policy that was taught to revise an attempt in the notation of its family',
  'self-taught-evaluators': 'a policy that was taught to compare two answers in the notation of its family',
  sipretrain: 'documents, and a policy that was taught to tell them again',
  spark: 'solutions of which a verifier says line by line what is right',
  specs: 'answers in a form of tags, which it teaches before it rewards what is right',
  spine:
    'tasks of its own family, on which it finds the tokens where answers fork; ttrl trains on held-out questions of files',
  ssp: 'a search tool and its documents',
  'ssr-swe': 'programs with tests that an interpreter runs',
  'ssr-zero': 'a policy that was taught to judge translations in the notation of its family',
  stp: 'statements whose proofs a checker reads',
  svs: 'a policy that was taught to write variations of a task beside its solution',
  sws: 'a generator of new tasks of every kind',
  't-reg': 'a policy that was taught to answer better or worse as it is told',
  trace: 'a right solution of every task, written out step by step',
  ttcs: 'a policy that was taught to write variants of a question in the notation of its family',
  'verifier-training': 'solutions of which a checker can say line by line what is right',
  'weak-sup': 'a generator of tasks, a part of which it labels wrongly; grpo takes files of such labels',
  'writing-zero': 'a policy that was taught to score responses in the notation of its family',
};

/** Throws `run.tasks` with what the recipe lacks on files of questions. */
export function refuseQuestions(recipe: string): never {
  const missing = MISSING[recipe];
  throw wrongInput(
    'run.tasks',
    `Recipe ${recipe} takes no files of tasks${missing ? `: it needs ${missing}` : ''}.`,
    {
      expected: `one of ${['grpo', 'distil', ...QUESTION_RECIPES].join(', ')}, which train on questions, or sft, dpo and spin, which train on conversations and pairs`,
      next: 'Choose another --recipe, or leave the files out.',
    },
  );
}

/** Why a recipe takes no weighted sum of rewards: its reward is a part of its method. */
const OWN_REWARD: Readonly<Partial<Record<QuestionRecipe, string>>> = {
  genrm: 'its verifier is taught what is right and wrong, and nobody is paid',
  mae: 'its ratings are the reward',
  prime: 'its reward model learns from right and wrong answers',
  'r-zero': 'the votes of its solver are the reward',
  rise: 'the word that pays its solver is what its verifier has to say',
  sdpo: 'what its teacher is told are answers that its reward calls right',
  'self-rewarding': 'the points that the policy gives itself are the reward',
  'srpo-route': 'what its teacher is told are answers that its reward calls right',
  tango: 'the word that pays its generator is what its verifier has to say',
  trio: 'the word that pays its solver is what its judge has to say and what prices its proposals',
  ttrl: 'the votes of its solver are the reward',
};

/** Throws `run.reward` where a weighted sum of rewards cannot pay the recipe's solver. */
export function expectSum(recipe: QuestionRecipe): void {
  const own = OWN_REWARD[recipe];
  if (own === undefined) return;
  throw wrongInput('run.reward', `Recipe ${recipe} takes no sums of rewards: ${own}.`, {
    expected: `the name of one of its rewards, or one of ${['grpo', ...QUESTION_RECIPES.filter((name) => !OWN_REWARD[name])].join(', ')}`,
    next: 'Run `npm run recipe -- show NAME` for the names.',
  });
}

/** Why a curriculum cannot be used: the recipe does not choose among the questions that it trains on. */
const OWN_ORDER: Readonly<Partial<Record<QuestionRecipe, string>>> = {
  mae: 'the files’ questions are examples for its proposer',
  'r-zero': 'the files’ questions are examples for its challenger',
  ttrl: 'it walks through all held-out questions',
};

/** Throws `run.setting` where the recipe cannot draw its questions by a curriculum. */
function expectCurriculum(recipe: QuestionRecipe): void {
  const own = OWN_ORDER[recipe];
  if (own === undefined) return;
  throw wrongInput('run.setting', `Recipe ${recipe} takes no curriculum: ${own}.`, {
    expected: 'no --set curriculum.unanimousWeight with this recipe',
  });
}

/** What `--set` may change of a recipe whose method is fixed otherwise. */
export const questionRecipeSettings = v.strictObject({
  maxNew: grpoSettings.entries.maxNew,
  examined: grpoSettings.entries.examined,
  optimizer: grpoSettings.entries.optimizer,
  adapter: grpoSettings.entries.adapter,
  curriculum: grpoSettings.entries.curriculum,
});

export const questionRecipeData = v.strictObject({
  recipe: v.picklist(QUESTION_RECIPES),
  ...questionEntries,
  settings: questionRecipeSettings,
  /** The default reward, where it is a weighted sum. */
  rewards: v.exactOptional(rewardSum),
});
export type QuestionRecipeData = v.InferOutput<typeof questionRecipeData>;

/** The same data gives the same name. */
export const questionRecipeName = (data: QuestionRecipeData): string =>
  `${data.recipe}-${deriveId(data.recipe, JSON.stringify(data)).slice(0, 10)}`;

/**
 * `modules`: the reward modules that the data names, by their hashes. Throws where the data does not fit the schema, because another version of
 * rollmesh or a person wrote it.
 */
export function questionRecipeFrom(
  given: unknown,
  modules: Readonly<Record<string, BoundedModule>> = {},
): Recipe {
  const data = v.parse(questionRecipeData, given);
  const { maxNew, examined, optimizer, adapter, curriculum } = data.settings;
  const checker = findChecker(data.checker, [...CHECKERS, program]);
  const questions = {
    tasks: { sources: data.sources, heldOut: data.heldOut },
    checker,
    extract: data.extract,
  };
  const made = ON_QUESTIONS[data.recipe](
    questionGame({
      ...questions,
      name: data.name,
      maxNew,
      examined,
      // Only the generated questions start from these policies; with files the run names its policy.
      ...(isWordsPolicy(data.start) ? { parseProposal: parseQuestion } : {}),
    }),
  );
  if (data.rewards) expectSum(data.recipe);
  const paid = data.rewards
    ? paidBySum(made, { checker, extract: data.extract }, sumOf(data.rewards, modules))
    : made;
  if (curriculum) expectCurriculum(data.recipe);
  const recipe = curriculum ? withCurriculum(paid, curriculum, compared(data)) : paid;
  const sets = Object.entries(recipe.sets).map(([name, set]) => [
    name,
    {
      ...set,
      optimizer: set.optimizer && { ...set.optimizer, ...optimizer },
      // A set that a head reads is trained whole, without adapters. One that averages others has adapters as they do.
      ...(adapter && !set.head ? { adapter } : {}),
    },
  ]);
  const name = questionRecipeName(data);
  return {
    ...recipe,
    name,
    hosted: [hostedQuestions(name, () => questions)],
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
