/** A critic that reads the worked solution of a task and says where an attempt goes wrong, in worlds where no checker of steps does. */
import type { Game, Wording } from '../core/game/game.ts';
import type { LearnTools } from '../core/plan/training-plan.ts';
import type { RoundShape } from '../core/recipe/recipe.ts';
import { role } from '../core/recipe/role.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import type { RoundSpec } from '../core/schema/round.ts';
import type { RolloutGroup, ScoredGroup } from '../core/schema/sample.ts';
import { ask } from './ask-about-samples.ts';
import { SOLVER } from './solver.ts';

const CRITIC = 'critic';

/** Groups with the critic's feedback on every attempt that parses and was paid nothing. One without a reward may be right. */
async function criticised<G extends RolloutGroup>(
  { said }: Pick<Game, 'said'>,
  critique: Wording<'critique'>,
  context: RoundContext,
  groups: readonly G[],
): Promise<(G & Pick<ScoredGroup, 'judgments'>)[]> {
  const questions = groups.flatMap(({ task, samples }) =>
    samples.flatMap((sample) => {
      if (sample.outcome !== 'ok' || sample.rewards.reward !== 0) return [];
      const about = { task, attempt: said(context.tokenizer.decode(sample.ids), context) };
      const parse = (text: string) => critique.read(text, about, context);
      return [{ of: sample.id, prompt: critique.ask(about, context), parse }];
    }),
  );
  const written = (await ask(context, CRITIC, questions, 1)).flat().map(({ sample }) => sample);
  return groups.map((group) => {
    const own = new Set(group.samples.map(({ id }) => id));
    return { ...group, judgments: written.filter((sample) => own.has(sample.of!)) };
  });
}

/** The shape of round, with a critic where the game knows one. `hears`: whether anybody reads in a round what the critic writes. */
export function besideCritic(
  game: Pick<Game<never>, 'said' | 'also'>,
  shape: RoundShape,
  hears: (round: RoundSpec) => boolean,
): RoundShape {
  const critique = game.also?.critique;
  if (!critique) return shape;
  return {
    ...shape,
    roles: {
      ...shape.roles,
      [CRITIC]: role('writes feedback on attempts from the worked solution', critique.maxNew, {
        speaksAs: SOLVER,
        seesGold: true,
      }),
    },
    judge: async (context, groups) => {
      const paid = await shape.judge(context, groups);
      return hears(context.round) ? criticised(game, critique, context, paid) : paid;
    },
  };
}

/** What the critic wrote on a sample, as others can be shown it; null where it wrote nothing that parses. */
export function critiqueOf(
  { said }: Pick<Game, 'said'>,
  { judgments }: Pick<ScoredGroup, 'judgments'>,
  sample: string,
  tools: Pick<LearnTools, 'decode' | 'renderer'>,
): string | null {
  const found = judgments.find(({ of, outcome }) => of === sample && outcome === 'ok');
  return found ? said(tools.decode(found.ids), tools) : null;
}
