/** The recipes that are made from files, which no list of shipped recipes has: each on a file of one line, so that it can be described. */
import { type RollmeshError, wrongInput } from '../core/errors.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { nearest } from '../core/text/nearest.ts';
import { DEFAULT_START_POLICY } from '../local/starts.ts';
import { distilFrom } from '../recipes/distil/from-data.ts';
import { dpoFrom } from '../recipes/dpo/recipe.ts';
import { grpoFrom } from '../recipes/grpo/from-data.ts';
import { sftFrom } from '../recipes/sft/recipe.ts';
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

/** The recipes under the names by which they are asked for. */
export const FILE_RECIPES: readonly Recipe[] = [
  { ...grpoFrom(QUESTIONS), name: 'grpo' },
  { ...distilFrom({ ...QUESTIONS, settings: { teacher: { policy: 'teacher' } } }), name: 'distil' },
  { ...sftFrom(ON_A_LINE), name: 'sft' },
  { ...dpoFrom(ON_A_LINE), name: 'dpo' },
];

/** The error about a name that is neither one of these recipes' nor one of those on files. */
export function unknownRecipe(name: string, recipes: readonly Recipe[]): RollmeshError {
  const known = [...FILE_RECIPES, ...recipes].map((recipe) => recipe.name);
  const meant = nearest(name, known);
  return wrongInput('recipe.unknown', `There is no recipe ${JSON.stringify(name)}.`, {
    expected: meant === undefined ? 'the name of a recipe, or the path of a module' : `${meant}, perhaps`,
    next: 'Run `npx rollmesh recipe list`, or name the module of a recipe of your own by its path: --recipe ./recipe.ts.',
  });
}
