/** The recipes that are made from files in a way of their own: what each needs of a file, and what makes it from data. */
import { type RollmeshError, wrongInput } from '../core/errors.ts';
import type { Datum } from '../core/game/verbs.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import type { BoundedModule } from '../core/recipe/reward-function.ts';
import { nearest } from '../core/text/nearest.ts';
import { DEFAULT_START_POLICY } from '../local/starts.ts';
import { distilFrom } from '../recipes/distil/from-data.ts';
import { dpoFrom } from '../recipes/dpo/recipe.ts';
import { grpoFrom } from '../recipes/grpo/from-data.ts';
import { rewardModelFrom } from '../recipes/reward-model/recipe.ts';
import { sftFrom } from '../recipes/sft/recipe.ts';
import { spinFrom } from '../recipes/spin/from-data.ts';
import type { PlacedTask } from '../worlds/file/task.ts';

/** A recipe that a function makes from plain data. */
export interface FileRecipe {
  readonly needs: readonly Datum[];
  /** The function, its name, and its module by the path without an extension. */
  readonly from: (data: unknown, modules?: Readonly<Record<string, BoundedModule>>) => Recipe;
  readonly name: string;
  readonly module: string;
}

/** By the names by which they are asked for. Those on questions are in recipes/on-questions.ts. */
export const FROM_FILES = {
  grpo: { needs: ['answer'], from: grpoFrom, name: 'grpoFrom', module: 'recipes/grpo/from-data' },
  distil: { needs: ['answer'], from: distilFrom, name: 'distilFrom', module: 'recipes/distil/from-data' },
  sft: { needs: ['conversations'], from: sftFrom, name: 'sftFrom', module: 'recipes/sft/recipe' },
  dpo: { needs: ['pairs'], from: dpoFrom, name: 'dpoFrom', module: 'recipes/dpo/recipe' },
  'reward-model': {
    needs: ['ratings'],
    from: rewardModelFrom,
    name: 'rewardModelFrom',
    module: 'recipes/reward-model/recipe',
  },
  spin: { needs: ['conversations'], from: spinFrom, name: 'spinFrom', module: 'recipes/spin/from-data' },
} as const satisfies Readonly<Record<string, FileRecipe>>;

const LINE: PlacedTask = {
  messages: [{ role: 'user', content: 'What is 3 + 4?' }],
  answer: '7',
  metadata: { rejected: '8' },
  difficulty: null,
  file: 'FILE.jsonl',
  line: 1,
};
const ON_A_LINE = {
  name: 'of the files',
  start: DEFAULT_START_POLICY,
  sources: [{ weight: 1, tasks: [LINE] }],
  heldOut: [LINE],
  settings: {},
};
const QUESTIONS = { ...ON_A_LINE, checker: 'auto', extract: ['boxed', 'answer', 'whole'] };

/** Those that no list of shipped recipes has, each on a file of one line, so that it can be described. */
export const FILE_RECIPES: readonly Recipe[] = [
  { ...FROM_FILES.grpo.from(QUESTIONS), name: 'grpo' },
  {
    ...FROM_FILES.distil.from({ ...QUESTIONS, settings: { teacher: { policy: 'teacher' } } }),
    name: 'distil',
  },
  { ...FROM_FILES.sft.from(ON_A_LINE), name: 'sft' },
  { ...FROM_FILES.dpo.from(ON_A_LINE), name: 'dpo' },
  { ...FROM_FILES['reward-model'].from(ON_A_LINE), name: 'reward-model' },
];

/** The error about a name that no recipe of the list has: it is wrong, or that of a recipe which exists on files alone. */
export function unknownRecipe(name: string, recipes: readonly Recipe[]): RollmeshError {
  if (FILE_RECIPES.some((recipe) => recipe.name === name))
    return wrongInput('recipe.files', `Recipe ${name} plays the tasks of files, and none is named here.`, {
      expected: 'a recipe with a world or games of its own',
      next: `Name the files of a run: \`npx rollmesh start --recipe ${name} --policy NAME --tasks FILE.jsonl\`. \`npx rollmesh policy eval NAME VERSION --tasks FILE\` evaluates on one.`,
    });
  const known = [...FILE_RECIPES, ...recipes].map((recipe) => recipe.name);
  const meant = nearest(name, known);
  return wrongInput('recipe.unknown', `There is no recipe ${JSON.stringify(name)}.`, {
    expected: meant === undefined ? 'the name of a recipe, or the path of a module' : `${meant}, perhaps`,
    next: 'Run `npx rollmesh recipe list`, or name the module of a recipe of your own by its path: --recipe ./recipe.ts.',
  });
}
