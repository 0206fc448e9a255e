/**
 * A recipe is data plus pure functions: who plays, what is paid, how it becomes advantages, what is optimised. A round has three
 * stages, each a function over `Stage`, which speaks for the roles: tasks are proposed (once a round), rolled out and judged (group
 * by group); then the learner asks what the records teach. The same recipe runs in the mesh, in one process and in tests; nothing
 * here knows a runtime.
 */
import type { Claim } from './claims.ts';
import type { SamplingSettings } from './policy.ts';
import type { Exam, Stage } from './roles/stage.ts';
import type { Evaluation } from './schema/evaluation.ts';
import type { RoleBinding, RunSettings } from './schema/round.ts';
import type { AdmittedTask, Proposals, RolledGroup, ScoredGroup } from './schema/sample.ts';
import type { LearnTools, Lesson, RoundRecords, SetSettings } from './training.ts';

export interface Paper {
  readonly title: string;
  readonly year: number;
  /** arXiv id or URL; absent for a system of our own. */
  readonly source?: string;
}

/** One of the things that `--reward` may ask for. */
export interface RewardInfo {
  /** Says in a sentence what is paid. */
  readonly says: string;
  /** Rewards that do not use gold must be the same whatever the oracle says; a test holds every one of them to it. */
  readonly usesGold: boolean;
}

/** Where the rewards of a role stand: on its whole answer, on each turn of an episode, on each step of an answer or on each token. */
export type Placement = 'sequence' | 'turn' | 'step' | 'token';

export interface RoleSettings {
  readonly says: string;
  /** The parameter set that speaks in this role; default the main one. */
  readonly set?: string;
  /** Log-probabilities are recorded under the distribution that was sampled from. Stops come from the recipe. */
  readonly sampling: Omit<SamplingSettings, 'stop'>;
  /** Default `sequence`. */
  readonly placement?: Placement;
  /** It is held to the exact checker even where `--reward` pays the others without gold. */
  readonly usesGold?: boolean;
}

/** What a shape of round gives a recipe: all but its words, its weights and its lesson. */
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
>;

export interface Recipe {
  readonly name: string;
  readonly title: string;
  readonly paper: Paper;
  /** One paragraph: who plays, who is paid for what. */
  readonly summary: string;
  /** Where it differs from the paper, and why. */
  readonly differences: readonly string[];
  /** What it shows, with the arms that would refute it; held to a committed record where the recipe is shipped. */
  readonly claim?: Claim;
  /** The shipped policy it starts from: a folder under models/. */
  readonly start: string;
  /** Name of its task family, for reports. */
  readonly taskName: string;
  /** Token that ends every completion. */
  readonly stop: string;
  /** Defaults of a run. */
  readonly tasks: number;
  readonly group: number;
  /** What `--reward` takes; the first is the default. */
  readonly rewards: Readonly<Record<string, RewardInfo>>;
  /** What `--variant` takes besides the recipe as published: ablations, in words. */
  readonly variants: Readonly<Record<string, string>>;
  /** Parameter sets by name; `main` is always there. */
  readonly sets: Readonly<Record<string, SetSettings>>;
  /** Roles in the order in which they first act. */
  readonly roles: Readonly<Record<string, RoleSettings>>;
  /** Roles that `--freeze` takes: they keep version 0. */
  readonly freezable: readonly string[];
  /** The versions that roles use, where that is not the newest: asked once, when a run is ordered. */
  readonly bindings?: (settings: RunSettings) => Readonly<Record<string, RoleBinding>>;
  /** Versions that samples may be behind by design; an operator's own bound may be wider. */
  readonly staleness?: number;

  /** Stage one, once a round: the tasks, and every proposal with its reason. */
  readonly propose: (stage: Stage) => Promise<Proposals>;
  /** Stage two: the rollouts of some of the tasks, in the order given. */
  readonly rollOut: (stage: Stage, tasks: readonly AdmittedTask[]) => Promise<RolledGroup[]>;
  /** Stage three: judgments, probes and rewards of some of the groups, in the order given. */
  readonly judge: (stage: Stage, groups: readonly RolledGroup[]) => Promise<ScoredGroup[]>;
  /** What a whole round teaches; groups come in order of their index. Parts of frozen roles are dropped by the engine. */
  readonly learn: (records: RoundRecords, tools: LearnTools) => Lesson | Promise<Lesson>;
  /** Held-out evaluation by the oracle, apart from every reward. */
  readonly evaluate: (exam: Exam) => Promise<Evaluation>;
  /** What the monitors say about tasks and answers. */
  readonly describe?: {
    /** A scalar that says how hard a task is. */
    readonly difficulty?: (task: string) => number;
    /** Does the completion write its steps? */
    readonly worked?: (text: string) => boolean;
  };
}
