/** A responder that plays alone on string transformations: the shape of round that recipes on preferences share. The recipe decides what is paid and trained. */
import type { Random } from '../core/random.ts';
import type { RoundShape } from '../core/recipe/recipe.ts';
import { role } from '../core/recipe/role.ts';
import type { EvaluationContext } from '../core/recipe/round-context.ts';
import type { EvaluationTasks } from '../core/recipe/split.ts';
import { drawnTasks } from '../worlds/drawn-tasks.ts';
import { heldOutStyle, randomStyleTask } from '../worlds/style/family.ts';
import { STOP } from '../worlds/worked.ts';
import { type Answered, answers, examined } from './evaluate/responder.ts';
import { RESPONDER, RESPONSE_TOKENS, respond } from './style-responder.ts';

type Figures = Readonly<Record<string, number | null>>;

interface Responding {
  /** Draws a task of a round; default any of the family that is not held out. */
  readonly draw?: (random: Random) => string;
  /** Tasks of the evaluation; default the family's. */
  readonly heldOut?: (asked: EvaluationTasks) => readonly string[];
  /** Further figures of the evaluation, by the sampled responses. */
  readonly examine?: (sampled: readonly Answered[], context: EvaluationContext) => Figures | Promise<Figures>;
}

export const responderAlone = ({
  draw = (random) => randomStyleTask(random),
  heldOut = heldOutStyle,
  examine = () => ({}),
}: Responding = {}): Omit<RoundShape, 'rewards' | 'judge'> => ({
  taskName: 'style',
  stop: STOP,
  roles: { [RESPONDER]: role('responds', RESPONSE_TOKENS) },
  propose: async (context) => drawnTasks(context, draw),
  rollOut: respond,
  evaluate: async (context) => {
    const tasks = heldOut(context.evaluationTasks);
    const sampled = await answers(context, tasks, 'sampled');
    return examined(await answers(context, tasks, 'greedy', 0), sampled, await examine(sampled, context));
  },
});
