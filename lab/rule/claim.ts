/**
 * A recipe's published claim at small scale, as data: the arms that show it and those that would refute it, and conditions on the
 * measured curves. It is registered before its runs are played, and judged by the rule in rule.ts (decisions/0012-one-rule.md).
 */
import { type Recipe, type TaskFamily, wrongInput } from 'rollmesh';
import type { Summary } from 'rollmesh/local';

export interface Arm {
  readonly name: string;
  /** Default: the recipe's first. */
  readonly reward?: string;
  readonly freeze?: readonly string[];
  /** Default: as published. */
  readonly variant?: string;
  /** How many of the claim's seeds it is played with, from the first on; default all. */
  readonly seedCount?: number;
  /** The purpose of the arm, in a sentence. */
  readonly description: string;
}

/** What a record keeps of a run: of its evaluations and rounds those figures that something is computed from. */
export type Run = Pick<
  Summary,
  'recipe' | 'seed' | 'rounds' | 'engine' | 'heldout' | 'monitors' | 'tokens' | 'wallMs'
>;

/** The runs of each arm, one per seed, in the order of the claim's seeds. */
export type ArmResults = Readonly<Record<string, readonly Run[]>>;

/** One number per seed. NaN: what is measured never happened in this run. Infinity: it had not come by the end of the run. */
export type Measure = (results: ArmResults, seed: number) => number;

/**
 * What a policy can do with many samples and without training. Figures by level L of difficulty, all by right steps but the vote: `passK.L`, the unbiased
 * chance that one of K samples is right (K = 1, 4, 16, 64; eight questions); of version 0 also `best.L`, the highest of its accuracies at four
 * temperatures, 0 among them, and `majority.L`, the share of questions whose most frequent answer of 64 is right.
 */
export interface Examination {
  readonly family: TaskFamily;
  readonly role: string;
  readonly levels: readonly number[];
}

interface Measured {
  readonly description: string;
  readonly measure: Measure;
  /**
   * What a control arm must not do. Without it the condition says what the method itself does: a claim of which the controls alone hold
   * is not partly shown.
   */
  readonly control?: boolean;
}

/** The smallest effect of interest, or the largest that does no harm: a bound on the mean over the seeds. It is never 0. */
export type Condition = Measured &
  (
    | { readonly atLeast: number; readonly atMost?: never }
    | { readonly atMost: number; readonly atLeast?: never }
  );

export interface Claim {
  readonly description: string;
  /** The recipe that is played; default the one that the claim is called after. */
  readonly recipe?: string;
  /** The first is the method as published, or the arm that the claim is about. */
  readonly arms: readonly Arm[];
  /** Default: CLAIM_SEEDS. */
  readonly seeds?: readonly number[];
  /** The start policy that its runs begin from; default the recipe’s. A quick check begins from that in any case. */
  readonly startPolicy?: string;
  /** `one each`: every seed pretrains a start policy of its own. Otherwise a sentence that says why all seeds begin from one. */
  readonly startSeeds?: string;
  readonly rounds: number;
  /** A run ends with the round in which it has sampled so many tokens, those of all roles together, so that arms are compared at equal ones. */
  readonly tokens?: number;
  /** What the first and the last version of every run are asked beside the recipe's evaluation. */
  readonly examination?: Examination;
  /** Default: the recipe's. */
  readonly tasks?: number;
  readonly groupSize?: number;
  /** Evaluate every so many rounds; default 5. */
  readonly evaluateEvery?: number;
  /** Rounds of a quick check, which is to reach the policy's first update; default 2. */
  readonly quickRounds?: number;
  /** The curves that the page draws, by the figure's name; default: the held-out accuracies. They are shares: the axis goes from 0 to 1. */
  readonly pictures?: Readonly<Record<string, string>>;
  /** A picture whose curves do not go over rounds. */
  readonly along?: Along;
  /** What the published claim requires of such runs, and that its controls do not achieve the same. */
  readonly conditions: readonly Condition[];
  /** The condition that makes the verdict; default the first. */
  readonly headline?: Headline;
  /** Expectations beyond the published claim, measured and shown beside it. */
  readonly observations?: readonly Condition[];
  /** Arms that differ in one thing alone, whether a partner of the solver is trained: what the page on co-training compares. */
  readonly partners?: readonly Partner[];
  /** On the figures that every claim has: why one of them is lacking, or what stands for it. Written after the runs. */
  readonly columns?: ColumnsNote;
  /** What the page shows as the reward's gap to gold; default the monitor `gap`, which grows where the reward is hacked. */
  readonly gap?: RewardGap;
  /** Written after the runs: what they show beyond the conditions, and why those fail that do. */
  readonly diagnosis?: string;
}

/** The comparison that the paper's own title or abstract stands on, chosen after the runs by reading the paper. */
export interface Headline {
  /** Its place among the conditions, from 0. */
  readonly condition: number;
  /** Why no run from this start, or of this part of the method, could have shown it. */
  readonly untestable?: string;
}

export interface ColumnsNote {
  /** A few words beside the skill in the table of all claims: what it is the accuracy of. */
  readonly label?: string;
  /** A sentence or two in the claim's section. */
  readonly meaning: string;
}

/** What stands for the reward's gap to gold where the monitor `gap` does not, or where its growth is not hacking. Written after the runs. */
export interface RewardGap {
  /** The monitor that is the gap, or the two whose difference it is; empty where no two compare. Default: `gap`. */
  readonly figures?: readonly string[];
  /** A few words beside the gap in tables: why there is none, or why its growth is not hacking. */
  readonly label?: string;
  /** A sentence in the claim's section. */
  readonly meaning: string;
}

/** A curve of each arm at the end of its runs, and of the start, whose points are figures of one evaluation; they are shares. */
export interface Along {
  readonly title: string;
  /** What the axis counts. */
  readonly xTitle: string;
  /** Where on the axis each figure is, by its name. */
  readonly at: Readonly<Record<string, number>>;
}

export interface Partner {
  /** The role, as a reader knows it. */
  readonly partner: string;
  /** The names of the arms. */
  readonly trained: string;
  readonly frozen: string;
}

/** The eight seeds of a registered run. No earlier attempt and no pilot used one of them. */
const CLAIM_SEEDS: readonly number[] = [30, 31, 32, 33, 34, 35, 36, 37];
/** So many seeds have the arms of every condition that is no control. */
export const LEAST_SEEDS = CLAIM_SEEDS.length;

/** The rounds between two evaluations, for a claim that does not set them. */
export const EVALUATE_EVERY = 5;

/** Said of a claim that names no reason of its own. */
export const ONE_START =
  'All seeds begin from the shipped start policy, as a user of the recipe does; no others were pretrained, and the intervals are those of sampling and training alone.';

export const seedsOf = ({ seeds = CLAIM_SEEDS }: Pick<Claim, 'seeds'>): readonly number[] => seeds;

/** The seeds that an arm is played with. */
export const armSeeds = (claim: Pick<Claim, 'seeds'>, { seedCount }: Arm): readonly number[] =>
  seedsOf(claim).slice(0, seedCount);

/** A recipe of the package with what is claimed of it, under the claim’s name. */
export type ClaimedRecipe = Recipe & { readonly claim: Claim };

/** The claimed recipes that a command or a page knows. */
export interface ClaimedRegistry {
  readonly recipes: readonly ClaimedRecipe[];
  /** Throws `claims.none` where nothing is claimed of the recipe. */
  readonly find: (name: string) => ClaimedRecipe;
}

export function claimedRegistry(recipes: readonly ClaimedRecipe[]): ClaimedRegistry {
  return {
    recipes,
    find(name) {
      const found = recipes.find((recipe) => recipe.name === name);
      if (found) return found;
      throw wrongInput('claims.none', `Nothing is claimed of a recipe ${JSON.stringify(name)}.`, {
        expected: `one of ${recipes.map((recipe) => recipe.name).join(', ')}`,
        next: 'Add a file of that name to lab/claims, or play the recipe with `npx rollmesh start`.',
      });
    },
  };
}

/** The name of the start policy that a claim’s runs begin from. */
export const startOfClaim = ({ claim, startPolicy }: Pick<ClaimedRecipe, 'claim' | 'startPolicy'>): string =>
  claim.startPolicy ?? startPolicy;
