/**
 * A recipe is data plus pure functions: its roles, its rewards, how they become advantages, and which objectives are trained. A round has
 * three stages, each a function over `RoundContext`, which samples from the roles: tasks are proposed (once a round), rolled out and
 * judged (group by group). Then the engine asks the recipe's `learn` for the training plan. The same recipe runs in the mesh, in one
 * process and in tests; nothing here depends on a runtime.
 */

import type { AgentSeats } from '../episodes/agent-episode.ts';
import type { HostedEnvironment } from '../episodes/hosted-environment.ts';
import type { Game } from '../game/game.ts';
import type { MatchedGames, SeatedGame } from '../game/seated-game.ts';
import type { Datum, Needs, Verb } from '../game/verbs.ts';
import type { Grid } from '../images/patches.ts';
import type {
  LearnTools,
  ProposalTools,
  RoundRecords,
  SetSettings,
  TrainingPlan,
} from '../plan/training-plan.ts';
import type { Evaluation } from '../schema/evaluation.ts';
import type { RoleBinding, RunSettings } from '../schema/round.ts';
import type { AdmittedTask, Proposals, RolloutGroup, ScoredGroup } from '../schema/sample.ts';
import type { StateSchema } from './recipe-state.ts';
import type { RoundDescription, StageRecipe } from './role.ts';
import type { EvaluationContext, RoundContext } from './round-context.ts';

export interface Paper {
  readonly title: string;
  readonly year: number;
  /** arXiv id or URL; absent for a system of our own. */
  readonly source?: string;
}

/** A paper on arXiv. `year`: of its publication, where that is not the year that the id begins with, as 2503.01234 does with 2025. */
export const arXiv = (id: string, title: string, year = 2000 + Number(id.slice(0, 2))): Paper => ({
  title,
  year,
  source: `arXiv:${id}`,
});

/** A short method section, in the terms of the field: what `npx rollmesh recipe show NAME` prints. One paragraph of plain text each. */
export interface Method {
  /** The tasks, which role knows what about them, and what the start policy can do. */
  readonly setting: string;
  /** Which roles act, in what order, and how often. */
  readonly roles: string;
  readonly rewards: string;
  /** How rewards become advantages, pairs or weights. */
  readonly credit: string;
  readonly objective: string;
  /** Which parameter sets are updated when. */
  readonly schedule: string;
}

/** The fields that a shape of round provides: all but a recipe's descriptions, its weights and its training plan. */
export type RoundShape = Pick<
  Recipe,
  | 'taskName'
  | 'stop'
  | 'rewards'
  | 'roles'
  | 'freezable'
  | 'propose'
  | 'rollOut'
  | 'judge'
  | 'evaluate'
  | 'describe'
  | 'matches'
  | 'agent'
>;

/** What a recipe is wherever it is played. */
export type Described = Partial<Recipe>;

/** What a recipe says of itself otherwise where it is played in another world than its own. */
type SaidElsewhere = Partial<
  Pick<Recipe, 'summary' | 'differences' | 'figures' | 'variants' | 'tasks' | 'groupSize'> & {
    /** The paragraphs that differ. */
    readonly method: Partial<Method>;
  }
>;

/** A recipe as it says itself elsewhere. */
export const saidElsewhere = <R extends Partial<Recipe>>(
  recipe: R,
  { method, ...said }: SaidElsewhere = {},
): R => ({
  ...recipe,
  ...said,
  ...(recipe.method && method ? { method: { ...recipe.method, ...method } } : {}),
});

/** A recipe as it is written: over any game that can say its verbs and has its data. */
export interface RecipeOver<V extends Verb = Verb> {
  readonly needs: Needs<V>;
  readonly over: (game: Game<V>) => WithoutSetup;
  readonly elsewhere?: SaidElsewhere;
  /** Why it takes no weighted sum of rewards: its reward is a part of its method. */
  readonly ownReward?: string;
  /** Why it takes no curriculum: it does not choose among the tasks that it trains on. */
  readonly ownOrder?: string;
  /** Why it does not run on files that are too large for a Worker's code: it reads other tasks than those that a round draws. */
  readonly readsAllTasks?: string;
  /** What a curriculum compares the answers of a group by, where that is not their reward as it is and the run pays no weighted sum. */
  readonly compared?: (reward: number) => number;
}

/**
 * A method where agents hold its episodes: all that it is told of one are the answers in it, each with what it was asked, and what the episode was paid. The
 * solver answers.
 */
export interface EpisodeMethod
  extends Pick<Recipe, 'title' | 'paper' | 'summary' | 'method' | 'differences' | 'sets' | 'learn'>,
    Partial<Pick<Recipe, 'figures' | 'variants' | 'bindings' | 'staleness'>> {
  /** How many tasks a round draws; default as many as its settings say. */
  readonly drawn?: (settings: RunSettings) => number;
}

/** A recipe without the policy that it starts from and the sizes of its rounds. */
export type WithoutSetup = Omit<Recipe, 'startPolicy' | 'tasks' | 'groupSize'>;

/** A recipe in a world. `more`: what belongs to the world, such as how a reader is shown its texts. */
export const played = <V extends Verb>(
  written: RecipeOver<V>,
  game: Game<V>,
  more: Partial<WithoutSetup> = {},
): WithoutSetup => ({ ...written.over(game), ...more, written });

export interface Recipe extends StageRecipe {
  readonly title: string;
  /** What people call it where its name is derived from its data, such as "grpo on gsm.jsonl". */
  readonly called?: string;
  readonly paper: Paper;
  /** One paragraph: which roles there are, and what each is paid for. */
  readonly summary: string;
  /** A shipped recipe has one; another need not. */
  readonly method?: Method;
  /** Where it differs from the paper, and why. */
  readonly differences: readonly string[];
  /** What it needs of a task that a question of a file does not have, as a type of data and as a phrase: why it takes no files of tasks. Absent where it takes them, and where nobody has said. */
  readonly needsOfTasks?: { readonly datum: Datum; readonly which: string };
  /**
   * What each figure that the recipe reports beside the usual ones means, of a round (`TrainingPlan.figures`) or of an evaluation: one sentence by the
   * figure's name, with its unit, that the page shows beside the figure. A name explains the names that continue it after a dot, too.
   */
  readonly figures?: Readonly<Record<string, string>>;
  /** The shipped policy it starts from: a folder under models/. */
  readonly startPolicy: string;
  /** How it is written over any game; absent = it is bound to its own world. */
  readonly written?: RecipeOver;
  /** Games in which versions can meet each other; absent = it plays none. */
  readonly matches?: MatchedGames;
  /** How it plays a game of somebody's own; absent = it plays its own games alone. */
  readonly inGame?: (game: SeatedGame) => WithoutSetup;
  /** How it trains on episodes that agents hold; absent = its method needs more than their answers and rewards. */
  readonly inEpisodes?: EpisodeMethod;
  /** Name of its task family, for reports. */
  readonly taskName: string;
  /**
   * For a family of your own: the name of a known one in whose notation its tasks, answers and judgments are written, so that a policy
   * that was taught the known one can speak it.
   */
  readonly writtenAs?: string;
  /** The most rows and columns of patches of the images that its prompts show; absent = they show none. A policy without eyes cannot be asked. */
  readonly showsImages?: Grid;
  /** Defaults of a run. */
  readonly tasks: number;
  readonly groupSize: number;
  /** The ablations that `--variant` takes besides the recipe as published, each with its description; absent = none. */
  readonly variants?: Readonly<Record<string, string>>;
  /** Parameter sets by name; `main` is always there. */
  readonly sets: Readonly<Record<string, SetSettings>>;
  /** The variants that train a set, where not all do; absent = every run trains every set that has an optimiser. */
  readonly setVariants?: Readonly<Record<string, readonly string[]>>;
  /** Roles that `--freeze` takes: they keep version 0; absent = none. */
  readonly freezable?: readonly string[];
  /** The schema of the recipe state; absent = the recipe carries nothing from round to round. */
  readonly state?: StateSchema;
  /** The versions that roles use, where that is not the newest. Called once, when a run is ordered. */
  readonly bindings?: (settings: RunSettings) => Readonly<Record<string, RoleBinding>>;
  /** How many versions samples may be behind by design, beside those that a run is rounds ahead; an operator's own bound may be wider. */
  readonly staleness?: number;

  /** Whether a task of its rounds is asked to measure the policy and not to train it: it is left out of the round's monitors. Absent = none is. */
  readonly isMeasured?: (task: string) => boolean;
  /** The roles that programs outside the mesh play by way of its endpoints; absent = none. Their rollouts come from `RoundContext.episodes`. */
  readonly agent?: AgentSeats;

  /** Stage one, once a round: returns the tasks, and every proposal with its outcome. */
  readonly propose: (context: RoundContext) => Promise<Proposals>;
  /** Stage two: returns the rollouts of some of the tasks, in the order given. */
  readonly rollOut: (context: RoundContext, tasks: readonly AdmittedTask[]) => Promise<RolloutGroup[]>;
  /** Stage three: returns judgments, probes and rewards of some of the groups, in the order given. */
  readonly judge: (context: RoundContext, groups: readonly RolloutGroup[]) => Promise<ScoredGroup[]>;
  /**
   * What the round's proposals earned, by the id of their first sample; null = no reward. A pure function of the records: the engine
   * calls it once, writes it into the round's report and hands the proposals to `learn` with their rewards.
   */
  readonly payProposals?: (
    records: RoundRecords,
    tools: ProposalTools,
  ) => ReadonlyMap<string, number | null> | undefined;
  /** Returns the training plan of a whole round; groups come in order of their index. The engine drops the parts of frozen roles. */
  readonly learn: (records: RoundRecords, tools: LearnTools) => TrainingPlan | Promise<TrainingPlan>;
  /** Held-out evaluation by the oracle, apart from every reward. */
  readonly evaluate: (context: EvaluationContext) => Promise<Evaluation>;
  /** Environments that the gateway serves to others by the Open Reward Standard; absent = none. */
  readonly hosted?: readonly HostedEnvironment[];
  /** The sha256 of the objects of tasks that its stages read: they lie in the object store, under `keys.tasks`. Absent = its tasks are its own. */
  readonly stored?: readonly string[];
  /** What the monitors can say about tasks and answers. */
  readonly describe?: RoundDescription;
}
