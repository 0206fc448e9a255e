/**
 * Recipe × world × start × sizes: the tasks that each shipped recipe plays of its own, the policy that it starts from, and how large its rounds are. The
 * list of recipes, what `recipe show` says and docs/recipes.md are made from it.
 */
import type { Recipe, Setup } from '../core/recipe/recipe.ts';

/**
 * [task family, start policy, tasks a round, rollouts a task, tasks a round in another world where these are fewer]. What plays the user's files alone has
 * no start policy of its own.
 */
type Row = readonly [string, string | null, number, number, number?];

const ROWS = {
  grpo: ['questions', null, 32, 8],
  distil: ['questions', null, 32, 2],
  sft: ['conversations', null, 32, 1],
  dpo: ['pairs', null, 32, 1],
  'reward-model': ['ratings', null, 32, 1],
  'trio-in-composition': ['composition', 'composition', 24, 8],
  trio: ['arithmetic', 'arithmetic-base', 64, 8],
  azr: ['programs', 'programs-one-instruction', 48, 8],
  'r-zero': ['arithmetic', 'arithmetic-late-slips', 64, 5],
  ragen: ['lake', 'grids', 16, 8],
  spiral: ['kuhn', 'games', 16, 8],
  'mars-games': ['kuhn', 'games-together', 16, 8],
  epo: ['split-advised', 'games-together', 16, 8],
  jaxmarl: ['meet', 'games-together', 16, 8],
  ssp: ['knowledge', 'search-two-hop', 12, 5],
  'self-rewarding': ['arithmetic', 'arithmetic-judges', 512, 4, 32],
  sppo: ['style', 'style', 128, 5, 32],
  spin: ['arithmetic', 'arithmetic-undertrained', 384, 1, 32],
  'self-taught-evaluators': ['arithmetic', 'arithmetic-judges', 120, 4],
  mae: ['arithmetic', 'arithmetic-overthinking', 64, 3, 32],
  dapo: ['arithmetic with checks', 'arithmetic-verbose', 64, 8],
  'one-shot': ['arithmetic', 'arithmetic-base', 32, 8],
  ttrl: ['arithmetic', 'arithmetic-terse', 24, 32],
  'llama-rl': ['arithmetic', 'arithmetic-base', 48, 8],
  rise: ['arithmetic', 'arithmetic-step-slips', 32, 8],
  tango: ['chains', 'arithmetic-chains', 48, 5],
  prime: ['chains', 'arithmetic-chains', 128, 4],
  genrm: ['arithmetic', 'arithmetic-judges', 64, 8],
  'dsmath-v2': ['chains', 'arithmetic-analyses', 32, 8],
  'qwen-prm': ['chains', 'arithmetic-chains', 16, 8],
  stp: ['rewriting', 'rewriting', 96, 8],
  'ssr-swe': ['repair', 'programs-repair', 32, 8],
  evoenv: ['environments', 'programs-environments', 16, 8],
  aprm: ['chains', 'arithmetic-chains', 16, 4],
  'verifier-training': ['chains', 'arithmetic-chains', 16, 4],
  spark: ['chains', 'arithmetic-chains', 16, 8],
  'co-reward': ['arithmetic', 'arithmetic-terse', 16, 32],
  sar: ['arithmetic with checks', 'arithmetic-verbose', 32, 8],
  rlsp: ['arithmetic, checked', 'arithmetic-checking', 24, 8],
  scma: ['arithmetic, rambled', 'arithmetic-rambling', 16, 8],
  igrpo: ['arithmetic', 'arithmetic-aided', 32, 8],
  sage: ['arithmetic', 'arithmetic-aided', 32, 8],
  sdpo: ['arithmetic', 'arithmetic-aided', 32, 8],
  trace: ['arithmetic', 'arithmetic-aided', 32, 8],
  'srpo-route': ['arithmetic', 'arithmetic-aided', 32, 8],
  'fb-align': ['arithmetic', 'arithmetic-aided', 32, 8],
  'sd-zero': ['arithmetic', 'arithmetic-revising', 32, 8],
  spine: ['arithmetic', 'arithmetic-terse', 32, 8],
  'writing-zero': ['style', 'style', 64, 5],
  'ssr-zero': ['cipher', 'cipher', 24, 8],
  scir: ['style', 'style', 128, 2],
  specs: ['arithmetic', 'arithmetic-verbose', 32, 8],
  laser: ['arithmetic', 'arithmetic-step-slips', 32, 8],
  't-reg': ['style', 'style-contrasts', 128, 5],
  rrpo: ['style', 'style', 128, 2],
  sipretrain: ['documents', 'documents', 64, 4],
  rewardharness: ['style', 'style-rules', 24, 5],
  cosplay: ['statements', 'programs-statements', 50, 8],
  'weak-sup': ['arithmetic', 'arithmetic-two-forms', 24, 8],
  cepo: ['arithmetic', 'arithmetic-aided', 32, 8],
  svs: ['arithmetic', 'arithmetic-variations', 16, 8],
  'mr-rlvr': ['arithmetic', 'arithmetic-puzzles', 16, 8],
  sws: ['arithmetic', 'arithmetic-aided', 32, 8],
  'q-evolve': ['push', 'grids', 8, 8],
  'real-tg': ['temporal graphs', 'temporal-graphs', 32, 8],
  rlp: ['sums', 'documents-sums', 32, 8],
  'qg-scst': ['questions', 'documents-questions', 32, 8],
  ttcs: ['arithmetic', 'arithmetic-variants', 30, 12],
  eva: ['style', 'style', 96, 5],
  maporl: ['arithmetic', 'arithmetic-aided', 16, 8],
  marti: ['arithmetic', 'arithmetic-aided', 16, 4],
  comas: ['arithmetic', 'arithmetic-aided', 16, 4],
  asl: ['arithmetic', 'arithmetic-base', 32, 8],
  reseek: ['knowledge', 'search-two-hop', 16, 8],
  'pi-play': ['knowledge', 'search-two-hop', 16, 8],
  'mars-research': ['knowledge', 'search-two-hop', 16, 8],
  cleaner: ['knowledge', 'search-two-hop', 16, 8],
  siop: ['knowledge', 'search-two-hop', 16, 8],
  rlver: ['arithmetic', 'arithmetic-aided', 16, 8],
  'sweet-rl': ['arithmetic', 'arithmetic-aided', 16, 8],
  'rest-mcts': ['composition', 'composition', 16, 8],
  alphallm: ['composition', 'composition', 16, 8],
  cpl: ['composition', 'composition', 16, 8],
} as const satisfies Readonly<Record<string, Row>>;

type Shipped = keyof typeof ROWS;

const rowOf = (name: Shipped): Row => ROWS[name];

/** The sizes of a recipe's rounds. */
export function sizes(name: Shipped): Pick<Setup, 'tasks' | 'groupSize'> {
  const [, , tasks, groupSize] = rowOf(name);
  return { tasks, groupSize };
}

/** What a recipe starts from of its own, and the sizes of its rounds. Throws for one that plays the user's files alone. */
export function setup(name: Shipped): Setup {
  const [, startPolicy] = rowOf(name);
  if (startPolicy === null) throw new Error(`internal: Recipe ${name} has no start policy of its own.`);
  return { startPolicy, ...sizes(name) };
}

/** The same with the tasks that it plays, for a recipe that is bound to them. */
export const ownWorld = (name: Shipped): Setup & Pick<Recipe, 'taskName'> => ({
  taskName: rowOf(name)[0],
  ...setup(name),
});

/** Tasks a round in other worlds than its own. */
export const tasksElsewhere = (name: Shipped): number => rowOf(name)[4] ?? rowOf(name)[2];
