/** Checks that a value is a recipe. Every module that a user brings is checked, so that a field with a wrong name is reported by its name. */
import * as v from 'valibot';
import { wrongInput } from '../errors.ts';
import { DATA } from '../game/verbs.ts';
import { seatName } from '../schema/agent.ts';
import { setName } from '../schema/policy.ts';
import { name } from '../schema/sample.ts';
import type { Recipe } from './recipe.ts';

const text = v.pipe(
  v.string('a text'),
  v.check((value) => value !== '', 'a text that is not empty'),
);
const count = (least: number) => {
  const expected = `a whole number from ${least}`;
  return v.pipe(v.number(expected), v.safeInteger(expected), v.minValue(least, expected));
};
const work = v.function('a function');
const described = v.record(v.string(), v.looseObject({}, 'an object'), 'an object, by name');
const filled = <S extends v.GenericSchema<unknown, Record<string, unknown>>>(schema: S, what: string) =>
  v.pipe(
    schema,
    v.check((value) => Object.keys(value).length > 0, `at least one ${what}`),
  );

/** Rows and columns of patches. */
const grid = v.strictObject({ rows: count(1), columns: count(1) }, 'rows and columns');

/** A schema for every field of `Recipe`: a field that is added to one and not to the other does not compile. */
const FIELDS = {
  name,
  title: text,
  called: v.exactOptional(v.string()),
  paper: v.looseObject({ title: text, year: count(0), source: v.optional(text) }, 'title, year and source'),
  summary: text,
  method: v.optional(
    v.strictObject(
      { setting: text, roles: text, rewards: text, credit: text, objective: text, schedule: text },
      'an object with six texts',
    ),
  ),
  needsOfTasks: v.optional(
    v.strictObject({ datum: v.picklist(Object.keys(DATA)), which: text }, 'a type of data and which'),
  ),
  differences: v.array(text, 'a list of texts'),
  startPolicy: name,
  written: v.optional(v.looseObject({ over: work }, 'a recipe over games')),
  matches: v.optional(v.looseObject({ games: v.array(v.looseObject({}, 'a game')) }, 'games')),
  inGame: v.optional(work),
  inEpisodes: v.optional(v.looseObject({ learn: work }, 'a method on episodes')),
  taskName: text,
  writtenAs: v.optional(text),
  showsImages: v.exactOptional(grid),
  stop: v.optional(text),
  tasks: count(1),
  groupSize: count(1),
  rewards: filled(described, 'reward'),
  variants: v.optional(v.record(v.string(), text, 'texts by name')),
  sets: v.pipe(
    v.record(setName, v.looseObject({}, 'an object'), 'an object, by name'),
    v.check((sets) => 'main' in sets, 'the parameter set `main` among them'),
  ),
  roles: filled(described, 'role'),
  setVariants: v.optional(
    v.record(setName, v.array(text, 'a list of variants'), 'lists of variants, by set'),
  ),
  freezable: v.optional(v.array(text, 'a list of roles')),
  state: v.optional(v.looseObject({}, 'a valibot schema')),
  bindings: v.optional(work),
  staleness: v.optional(count(0)),
  agent: v.optional(
    v.looseObject(
      { seats: v.pipe(v.array(seatName), v.minLength(1, 'at least one seat')), taskView: work },
      'seats and what they are told',
    ),
  ),
  isMeasured: v.optional(work),
  propose: work,
  rollOut: work,
  judge: work,
  payProposals: v.optional(work),
  learn: work,
  evaluate: work,
  hosted: v.optional(
    v.array(
      v.looseObject(
        {
          name: setName,
          tools: v.array(v.looseObject({}, 'a tool'), 'a list of tools'),
          count: work,
          task: work,
        },
        'an environment',
      ),
      'a list of environments',
    ),
  ),
  stored: v.optional(v.array(text, 'a list of hashes')),
  figures: v.optional(v.record(v.string(), text, 'texts by name')),
  describe: v.optional(v.looseObject({}, 'an object')),
} satisfies Record<keyof Recipe, v.GenericSchema>;

const recipeShape = v.strictObject(FIELDS);

const isRecipe = (value: unknown): value is Recipe => v.is(recipeShape, value);

/**
 * The value as a recipe, unchanged. Throws `wrong-input` with the code `recipe.invalid`, which names every field that is missing,
 * unknown or of another kind than it must be. `from`: where the value comes from, for the message.
 */
export function checkRecipe(value: unknown, from: string): Recipe {
  if (isRecipe(value)) return value;
  const { issues = [] } = v.safeParse(recipeShape, value);
  throw wrongInput('recipe.invalid', `${from} is not a recipe: ${told(issues)}.`, {
    expected: `an object with the fields ${Object.keys(FIELDS).join(', ')}`,
    next: 'Correct the fields. Where the recipe is given to `defineRecipe` of rollmesh, your editor and `tsc` name them as well.',
  });
}

/** The issues by their fields. Unknown fields come first: one of them may be the misspelling of a missing field. */
function told(issues: readonly v.BaseIssue<unknown>[]): string {
  const unknown: string[] = [];
  const missing: string[] = [];
  const wrong: string[] = [];
  for (const { path, type, expected, received, message } of issues) {
    const field = `\`${path?.map(({ key }) => String(key)).join('.')}\``;
    if (path === undefined) wrong.push(`it is ${received}`);
    else if (type !== 'strict_object' || expected === 'Object')
      wrong.push(`${field} is ${received}, expected ${message.replace(/^Expected /, '')}`);
    else if (expected !== 'never') missing.push(field);
    else unknown.push(field);
  }
  return [
    ...(unknown.length ? [`a recipe has no field ${unknown.join(', ')}`] : []),
    ...(missing.length ? [`it lacks ${missing.join(', ')}`] : []),
    ...wrong,
  ].join('; ');
}
