/** Chains of power sampling in a stage, and their record. */
import type { Completion, GeneratePrompt, TokenIds } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';
import { type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import { rendered } from '../../core/recipe/task-family.ts';
import type { Outcome } from '../../core/schema/outcome.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { rolloutIds } from '../../protocols/roll-out.ts';
import {
  type Chain,
  type Continued,
  type Proposal,
  powerChains,
  writeOn,
} from '../../protocols/solve/power-chain.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { questionOf, type TreeGame } from '../../protocols/trees/stage.ts';

/** How answers are drawn: at temperature 1/α, and then by so many steps of a chain. */
export interface Sharpening {
  readonly alpha: number;
  readonly steps: number;
}

/** A continuation with its completion. */
interface Drawn extends Continued {
  readonly completion: Completion;
}

/** Where a chain begins. */
interface Beginning {
  readonly id: string;
  readonly prompt: TokenIds;
  /** The group whose record keeps what is measured; absent in an evaluation. */
  readonly group?: string;
}

/** The chains of the solver's answers, in the order given. */
export const sharpened = (
  context: Pick<RoundContext, 'generate' | 'measure'>,
  begun: readonly Beginning[],
  maxNew: number,
  { alpha, steps }: Sharpening,
): Promise<Chain<Drawn>[]> =>
  powerChains({
    count: begun.length,
    alpha,
    maxNew,
    drawId: (chain, step) => (step ? deriveId(begun[chain]!.id, 'step', step) : begun[chain]!.id),
    stepId: (chain, step) => deriveId(begun[chain]!.id, 'accept', step),
    propose: async (asked) => {
      const prompts = begun.map(({ prompt }) => prompt);
      const draw = (some: readonly GeneratePrompt[], bound: number) =>
        context.generate(SOLVER, some, { maxNew: bound, temperature: 1 / alpha });
      const made = await writeOn(asked, prompts, draw);
      const measured = steps
        ? await context.measure(
            SOLVER,
            asked.map(({ chain, kept }, i) => {
              const { prompt, group } = begun[chain]!;
              const sequence = { prompt: [...prompt, ...kept], ids: made[i]!.ids };
              return group === undefined ? sequence : { ...sequence, group };
            }),
          )
        : [];
      return made.map((completion, i) => ({
        ids: completion.ids,
        own: measured[i]?.logProbabilities ?? [],
        proposed: completion.logprobs,
        completion,
      }));
    },
    goesOn: (step) => step <= steps,
  });

/**
 * The rollouts of tasks: as many chains of each as the settings say. The record of a chain has all of its proposals by their steps, with whether each was
 * accepted; the last that was is the chain's rollout, and the others belong (`of`) to it.
 */
export async function rollChains(
  game: TreeGame,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
  sharpening: Sharpening,
): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const begun = tasks.map(({ group, task }) =>
    rolloutIds(group, SOLVER, round.settings.groupSize).map((id) => ({
      id,
      group,
      prompt: questionOf(game, task, context, tokenizer.encode),
    })),
  );
  const chains = await sharpened(context, begun.flat(), game.words.solve.maxNew, sharpening);
  const family = rendered(game.family, context);
  return tasks.map((task, t) => {
    const outcomeOf = ({ kept, drawn: { completion } }: Proposal<Drawn>): Outcome => {
      if (!completion.stopped) return 'cut-off';
      const parsed = family.parseSolution(task.task, tokenizer.decode([...kept, ...completion.ids]));
      return parsed.ok ? 'ok' : parsed.reason;
    };
    const own = chains.splice(0, begun[t]!.length);
    const samples = own.flatMap(({ proposals }, c) => {
      const { prompt } = begun[t]![c]!;
      const recorded = proposals.map((proposal, turn): Sample => {
        const { id, kept, drawn, accepted } = proposal;
        const rewards = { accepted: Number(accepted) };
        return {
          ...sampleOf(
            context,
            SOLVER,
            id,
            [...prompt, ...kept],
            drawn.completion,
            outcomeOf(proposal),
            rewards,
          ),
          turn,
        };
      });
      const last = recorded[proposals.findLastIndex(({ accepted }) => accepted)]!;
      return [
        last,
        ...recorded.filter((sample) => sample !== last).map((sample) => ({ ...sample, of: last.id })),
      ];
    });
    return { round: round.id, ...task, samples };
  });
}
