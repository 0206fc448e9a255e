/** The recipes that are nothing without files, each on a file of one line, so that it can be described. */
import { type RollmeshError, wrongInput } from '../core/errors.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { nearest } from '../core/text/nearest.ts';
import { DEFAULT_START_POLICY } from '../local/starts.ts';
import { distil } from '../recipes/distil/recipe.ts';
import { dpo } from '../recipes/dpo/recipe.ts';
import { grpo } from '../recipes/grpo/recipe.ts';
import { rewardModel } from '../recipes/reward-model/recipe.ts';
import { sft } from '../recipes/sft/recipe.ts';
import type { PlacedTask } from '../worlds/file/task.ts';

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

/** Those that no list of shipped recipes has. */
export const FILE_RECIPES: readonly Recipe[] = [
  { ...grpo.make(QUESTIONS), name: 'grpo' },
  { ...distil.make({ ...QUESTIONS, settings: { teacher: { policy: 'teacher' } } }), name: 'distil' },
  { ...sft.make(ON_A_LINE), name: 'sft' },
  { ...dpo.make(ON_A_LINE), name: 'dpo' },
  { ...rewardModel.make(ON_A_LINE), name: 'reward-model' },
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
