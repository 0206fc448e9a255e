/**
 * Trains one round: it takes the round's records and gives the next version's files. The recipe makes the training plan; the trainer
 * splits it into steps, computes the scores that are needed beforehand, and takes the steps. It keeps no state that matters: all it
 * needs is in the parent version (weights, heads, optimisers, recipe state), so a crash loses no more than the time since the last
 * publication. The sets of the last version stay on the device only to save loading them again.
 */
import type { Apart } from '../../core/audit/suspects.ts';
import { wrongInput } from '../../core/errors.ts';
import { keptImage, pixmap } from '../../core/images/image.ts';
import { bringImages, type ImageStore } from '../../core/images/shown.ts';
import { planTraining, type TaughtRecipe } from '../../core/plan/plan-training.ts';
import type { TeacherRef, TrainingPlan, UpdatePart } from '../../core/plan/training-plan.ts';
import type { TokenIds } from '../../core/policy/policy.ts';
import { type VersionFiles, weightsFile } from '../../core/schema/policy.ts';
import type { Earnings, TrainingReport } from '../../core/schema/report.ts';
import type { RoundSpec } from '../../core/schema/round.ts';
import type { Proposals, ScoredGroup } from '../../core/schema/sample.ts';
import { recipeStateOf } from '../../core/text/recipe-state.ts';
import { expectSameTokens, tokensOf } from '../../core/text/same-tokens.ts';
import type { ModelConfig } from '../../model/config.ts';
import { microBatchTokens } from '../nn/activations.ts';
import { configOf, FrozenSets, type LoadVersion } from './frozen-sets.ts';
import { HeldSets } from './held-sets.ts';
import { type LoadObjective, noObjectives, withObjective, withObjectives } from './objective-modules.ts';
import { type PlannedUpdate, planSteps } from './plan.ts';
import type { Model } from './readouts.ts';
import { RoundScores } from './scores.ts';
import { takeSteps } from './steps.ts';
import { apartOf, figuresOf, reportOf } from './summary.ts';
import { learnTools } from './tools.ts';
import { watchedRoles } from './watched-roles.ts';

export interface RoundToTrain {
  readonly recipe: TaughtRecipe;
  readonly round: RoundSpec;
  readonly proposals: Proposals;
  readonly groups: readonly ScoredGroup[];
  /** The version to train from: the policy's current version, which may be newer than the one that sampled. */
  readonly parent: number;
  /** The number that the new version will have. */
  readonly next: number;
  /** Loads the files of a version of the run's policy, or of another one that teaches it. */
  readonly load: LoadVersion;
  /** Reads images that the records show, by their sha256; by default those that this process has. */
  readonly readImage?: ImageStore['read'] | undefined;
  /**
   * Called before the first step with how far the log-probabilities of the samples that a policy objective trains are from the trainer's. What
   * it throws ends the training.
   */
  readonly examine?: (samples: readonly Apart[]) => Promise<void>;
}

export interface TrainedRound {
  readonly files: VersionFiles;
  /** The parent's weights of the sets that are published in bfloat16, of which deltas are made. */
  readonly before: VersionFiles;
  readonly report: TrainingReport;
  /** Figures of the recipe and of the training parts, by name. */
  readonly figures: Readonly<Record<string, number>>;
  /** The rewards of the round's proposals. */
  readonly earnings: Earnings;
}

interface Held {
  /** Identifies policy, version and set settings that the sets were made from. */
  readonly key: string;
  readonly files: VersionFiles;
  readonly sets: HeldSets;
}

export class RoundTrainer {
  readonly #tokenBudget: number | undefined;
  readonly #objectives: LoadObjective;
  readonly #open: (config: ModelConfig) => Promise<void>;
  readonly #frozen = new FrozenSets();
  #held: Held | undefined;

  /**
   * `tokenBudget`: most tokens in a micro-batch, by default as many as the policy's size allows. `objectives` loads the objectives that
   * recipes bring; by default none can be loaded. `open` is called before a policy's weights are placed, for whoever opens a device by their size.
   */
  constructor({
    tokenBudget,
    objectives = noObjectives,
    open = async () => {},
  }: {
    tokenBudget?: number;
    objectives?: LoadObjective;
    open?: (config: ModelConfig) => Promise<void>;
  } = {}) {
    this.#tokenBudget = tokenBudget;
    this.#open = open;
    this.#objectives = objectives;
  }

  /**
   * Throws `give-up` where there is nothing to train on, a loss or gradient is not finite, or the gradients of all steps have exploded,
   * and `wrong-input` for a training plan that does not fit the recipe's sets. Nothing of such a round may be published.
   */
  async train(work: RoundToTrain): Promise<TrainedRound> {
    const held = await this.#hold(work);
    // Until the new version is complete the weights on the device belong to no version.
    this.#held = undefined;
    try {
      const trained = await this.#train(held, work);
      const { files } = trained;
      this.#held = { key: keyOf(work, work.next), files, sets: held.sets.as(files) };
      return trained;
    } catch (error) {
      held.sets.dispose();
      throw error;
    }
  }

  async #train(held: Held, work: RoundToTrain): Promise<TrainedRound> {
    const { files, sets } = held;
    const { recipe, round, proposals, groups, parent, load } = work;
    const { policy } = round.settings;
    const tokenBudget = this.#tokenBudget ?? microBatchTokens(configOf(files));
    const find = async (ref: TeacherRef): Promise<Model> => {
      const of = ref.policy ?? policy;
      if (of === policy && ref.version === parent) return await sets.get(ref.set);
      const files = of === policy ? load : foreign(round, of, held.files, load);
      return { params: await this.#frozen.get(of, ref, files) };
    };
    const loaded = (part: UpdatePart) => withObjective(part, recipe.name, this.#objectives);
    const tools = learnTools({
      policy,
      files,
      sets,
      find,
      tokenBudget,
      loaded,
      planned: (set, updates) =>
        planSteps({ updates: updates.map((update) => ({ ...update, set })) }, recipe.sets, round.id),
    });
    const records = { round, proposals, groups, recipeState: recipeStateOf(files), version: parent };
    await bringImages(promptsIn(work), { read: work.readImage ?? unknownImage });
    const taught = await planTraining(recipe, records, tools);
    const plan = await withObjectives(taught, recipe.name, this.#objectives);
    const planned = planSteps(plan, recipe.sets, round.id);
    const scores = new RoundScores(tokenBudget, find);
    try {
      for (const { set, epochs } of planned) await scores.add(set, await sets.get(set), unitsOf(epochs));
      await work.examine?.(apartOf(planned, scores));
      const watched = await watchedRoles({ round, groups, parent, plan: planned, sets, find, tokenBudget });
      const steps = await takeSteps(planned, sets, scores, tokenBudget);
      await sets.average();
      return {
        files: { ...(await sets.files()), ...recipeStateFile(plan) },
        before: publishedBefore(recipe, files),
        report: withRoles(reportOf(planned, scores, steps), watched),
        figures: { ...figuresOf(steps), ...plan.figures },
        earnings: plan.earnings,
      };
    } finally {
      scores.dispose();
    }
  }

  async #hold(work: RoundToTrain): Promise<Held> {
    const { recipe, parent, load } = work;
    const key = keyOf(work, parent);
    if (this.#held?.key === key) return this.#held;
    this.forget();
    const files = await load(parent);
    await this.#open(configOf(files));
    return { key, files, sets: new HeldSets(files, recipe.sets, load) };
  }

  /** Gives up the sets of the last version. Call it where that was not published: another learner may publish its number with other bytes. */
  forget(): void {
    this.#held?.sets.dispose();
    this.#held = undefined;
  }

  dispose(): void {
    this.forget();
    this.#frozen.dispose();
  }
}

/** The prompts of all samples of a round. */
function* promptsIn({ proposals, groups }: Pick<RoundToTrain, 'proposals' | 'groups'>): Generator<TokenIds> {
  for (const { prompt } of proposals.samples) yield prompt;
  for (const { samples, judgments } of groups) {
    for (const { prompt } of samples) yield prompt;
    for (const { prompt } of judgments) yield prompt;
  }
}

const unknownImage: ImageStore['read'] = async (sha256) => pixmap(keptImage(sha256));

/** Loads versions of another policy, whose tokens must mean what the run's mean. */
const foreign =
  ({ roles }: RoundSpec, policy: string, own: VersionFiles, load: LoadVersion): LoadVersion =>
  async (version) => {
    if (!Object.values(roles).some((ref) => ref.name === policy && ref.version === version))
      throw wrongInput(
        'training-plan.teacher',
        `The teacher ${policy}@${version} plays no role of the round.`,
        {
          expected: 'a role that the recipe binds to this version',
          next: 'Name it in the recipe’s `bindings`: `{ teacher: { fixed: { name, version } } }`.',
        },
      );
    const files = await load(version, policy);
    expectSameTokens(tokensOf(own), tokensOf(files), { name: policy, version });
    return files;
  };

const withRoles = (report: TrainingReport, watched: TrainingReport['roles']): TrainingReport => ({
  ...report,
  roles: { ...watched, ...report.roles },
});

const keyOf = ({ recipe, round }: RoundToTrain, version: number): string =>
  JSON.stringify([round.settings.policy, version, recipe.sets]);

/** All units of an update, in the order of its first epoch. */
const unitsOf = (epochs: PlannedUpdate['epochs']) => epochs[0]!.flat();

const publishedBefore = ({ sets }: TaughtRecipe, files: VersionFiles): VersionFiles =>
  Object.fromEntries(
    Object.entries(sets).flatMap(([set, { optimizer, adapter }]) => {
      const weights = files[weightsFile(set)];
      return weights && optimizer?.publish && !adapter ? [[weightsFile(set), weights]] : [];
    }),
  );

export const recipeStateFile = ({ recipeState }: TrainingPlan): VersionFiles =>
  recipeState === undefined ? {} : { 'memory.json': new TextEncoder().encode(JSON.stringify(recipeState)) };
