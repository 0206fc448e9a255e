/** What the table of recipes is filtered by: the fields of each recipe, and the words of its method section. */
import { FILE_RECIPES } from '../../cli/file-recipes.ts';
import { sectionsOf } from '../../cli/recipe/describe-recipe.ts';
import { neededOfFiles } from '../../cli/recipe/runs-on.ts';
import { verdicts } from '../../cli/reference/recipes.ts';
import { DATA } from '../../core/game/verbs.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { recipes } from '../../recipes/index.ts';

/** The fields, as the table's controls name them. */
export type RecipeField = 'roles' | 'reward' | 'credit' | 'objective' | 'needs' | 'evidence';

/** A recipe has several values of most fields. */
export type RecipeFields = Readonly<Record<RecipeField, readonly string[]>> & {
  /** The method section, in which words are looked for. */
  readonly text: string;
};

/** By which words of a method section a value is known. */
type Known = Readonly<Record<string, RegExp>>;

const PAIRS = /\b[DI]PO\b|SPPO|log σ\(|Bradley/;

/** Of a paragraph on credit; the paragraph on the objective says where pairs are compared. */
const CREDIT: Known = {
  'compared in a group, divided by its deviation (GRPO)':
    /GRPO|standardised|deviation of the group|(?:compared within|minus the mean of)[^.]*divided by their deviation/,
  'compared in a group, without its deviation':
    /undivided|without division|centred by|centred on[^.]*scaled by|minus the mean of its group\.$|leave-one-out|mean gain of the other|less the mean return of/,
  'whitened over the round': /whiten|Returns of a round/,
  'a running or greedy baseline, or none': /baseline b |running mean|greedy question|without a baseline/,
  'a critic (GAE)': /[Gg]eneralised advantage estimation/,
  'turn by turn, or step by step':
    /return of a turn|later ones|last one to the first|to go\b|before each turn|[Vv]alue of a step|a step is worth/,
  'token by token':
    /[Ee]ach token of|A token gets|The token’s weight|fork tokens|marks one part|tokens of the word/,
  'chosen examples, or all alike':
    /imitated|one is kept|episodes are kept|counts the same|is an example|weights have a mean of 1/,
};

const OBJECTIVE: Known = {
  'clipped policy gradient': /clipped policy gradient|policy gradient of the variant/,
  'policy gradient without a clip': /REINFORCE|AIPO/,
  'pairs (DPO and others)': PAIRS,
  'likelihood of examples': /(?:log-|the |by )likelihood/,
  'distillation from a teacher': /KL\((?!start|π ‖ magnet)|divergences? (?:between|from)/,
  'KL divergence to a reference': /k3 estimate|KL\((?:start|π ‖ magnet)/,
  entropy: /entropy bonus|times the entropy|entropy from a band/,
  'a critic or value model': /(?<!no )critic|value model|squared error/,
  'cross-entropy of labels': /[Cc]ross-entropy/,
};

const NONE = 'none';
const known = (by: Known, text: string): string[] => Object.keys(by).filter((value) => by[value]!.test(text));

const needsOf = (recipe: Recipe): readonly string[] =>
  neededOfFiles(recipe)?.flatMap((datum) => (datum === 'mark' ? [] : [DATA[datum]])) ??
  (recipe.needsOfTasks ? [DATA[recipe.needsOfTasks.datum]] : []);

function fieldsOf(recipe: Recipe, evidence: string | undefined): RecipeFields {
  const { credit = '', objective = '' } = recipe.method ?? {};
  const [byDefault] = Object.values(recipe.rewards);
  const pairs = PAIRS.test(objective) ? ['pairs'] : [];
  const some = (values: readonly string[]) => (values.length ? values : [NONE]);
  return {
    roles: Object.keys(recipe.roles),
    reward: [`default ${byDefault?.usesGold ? 'uses gold' : 'is gold-free'}`, ...Object.keys(recipe.rewards)],
    credit: some([...known(CREDIT, credit), ...pairs]),
    objective: some(known(OBJECTIVE, objective)),
    needs: some(needsOf(recipe)),
    evidence: [evidence ?? 'nothing registered'],
    text: sectionsOf(recipe)
      .flatMap(({ text = '', items = [] }) => [text, ...items])
      .join(' '),
  };
}

/** The fields of all recipes by their names. */
export function recipeFields(): Record<string, RecipeFields> {
  const evidence = verdicts();
  return Object.fromEntries(
    [...FILE_RECIPES, ...recipes].map((recipe) => [recipe.name, fieldsOf(recipe, evidence.get(recipe.name))]),
  );
}
