/**
 * What a stage of a round must know of its recipe: which roles there are, how they sample, where their completions stop and what rewards
 * exist. Both the recipe and the round context import it, so that neither has to import the other for its types.
 */
import type { HeadKind, SamplingSettings } from '../policy/policy.ts';
import type { Part } from './reading.ts';

/** One of the rewards that `--reward` may select. */
export interface RewardInfo {
  /** What is paid, in a sentence. */
  readonly description: string;
  /** Rewards that do not use gold must be the same whatever the oracle says; a test holds every one of them to it. */
  readonly usesGold: boolean;
  /** It is on another scale than a share of right answers, as a weighted sum is: no gap between it and accuracy can be read. */
  readonly ownScale?: true;
  /** Under this reward no role at all is rewarded by the exact checker, also none that is under the others. */
  readonly labelFree?: true;
  /** Services that give some of it: their answers are recorded, and an audit cannot repeat them. */
  readonly services?: readonly string[];
}

/** What a role's reward is given for: its whole answer, each turn of an episode, each step of an answer, or each token. */
export type Placement = 'sequence' | 'turn' | 'step' | 'token';

export interface RoleSettings {
  readonly description: string;
  /** The role of the start policy's warm start that it speaks as; default its own name. */
  readonly speaksAs?: string;
  /** The parameter set that samples this role; default the main one. */
  readonly set?: string;
  /** Log-probabilities are recorded under the distribution that was sampled from. Stops come from the recipe. */
  readonly sampling: Omit<SamplingSettings, 'stop'>;
  /** Default `sequence`. */
  readonly placement?: Placement;
  /** It writes nothing, and its next-token distributions are taught to others: a run whose policy has other tokens than it is refused. */
  readonly teaches?: true;
  /** It writes nothing, and the head of its set is read: a run is refused whose policy has other tokens, or whose version for the role has no such head. */
  readonly measures?: HeadKind;
  /** Does another policy that plays it read what is asked? Where that shows images, it has to see. One that teaches or measures does. */
  readonly readsQuestion?: true;
  /** Is it rewarded by the exact checker even where `--reward` pays the other roles without gold? */
  readonly usesGold?: boolean;
  /**
   * Do its prompts hold a reference answer or solution, a part of one, or the checker's verdict? Such prompts are sampled by the mesh's own
   * isolates and by nodes whose token is for them, and by no other node. A test finds the roles of shipped recipes that are shown what no role wrote; what is
   * chosen or corrected by the checker it cannot see.
   */
  readonly seesGold?: true;
  /**
   * What its prompts hold that comes neither from its task nor from what roles wrote, and answers nothing that is asked of others, such as a board or
   * what a search found; absent = nothing does.
   */
  readonly shown?: string;
}

/** Has a policy that plays the role to see where a recipe shows images? */
export const hasToSee = ({ teaches, measures, readsQuestion }: RoleSettings): boolean =>
  (teaches ?? readsQuestion ?? false) || measures !== undefined;

/** A role that writes at most `maxNew` tokens at a time, at temperature 1 unless `sampling` says otherwise. */
export const role = (
  description: string,
  maxNew: number,
  {
    sampling,
    ...more
  }: Partial<Omit<RoleSettings, 'sampling'>> & {
    readonly sampling?: Partial<RoleSettings['sampling']>;
  } = {},
): RoleSettings => ({ description, sampling: { maxNew, temperature: 1, ...sampling }, ...more });

export interface StageRecipe {
  readonly name: string;
  /** Token that ends every completion. Absent where the policy's renderer says what ends an answer. */
  readonly stop?: string;
  /** What `--reward` takes; the first is the default. */
  readonly rewards: Readonly<Record<string, RewardInfo>>;
  /** Roles in the order in which they first act. */
  readonly roles: Readonly<Record<string, RoleSettings>>;
}

/** What the monitors of a round and its readers can say about tasks and answers, as far as the recipe provides it. */
export interface RoundDescription {
  /** A scalar that says how hard a task is. */
  readonly difficulty?: (task: string) => number;
  /** Does the completion write its steps? */
  readonly worked?: (text: string) => boolean;
  /** Cuts a text that a role read or wrote into parts; default `readTags`. It must take any text. */
  readonly parts?: (role: string, text: string) => readonly Part[];
  /** What each character of a board's cells is, where texts hold boards. */
  readonly cells?: Readonly<Record<string, string>>;
  /** A task as a person reads it; default the task's own text. */
  readonly title?: (task: string) => readonly Part[];
  /** What an episode of these turns ended at, for worlds whose last state no prompt shows. */
  readonly ending?: (task: string, turns: readonly string[]) => readonly Part[];
}
