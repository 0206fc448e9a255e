/**
 * Monte-Carlo labels of steps: every prefix of a solution is continued several times, and a step counts as right if some continuation of the prefix
 * that ends with it reaches the right answer (Math-Shepherd, hard labels). The steps themselves are not judged.
 */
import { deriveId } from '../core/random.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import { invalid, type ParseResult, type Solution, type TaskFamily } from '../core/recipe/task-family.ts';
import type { RolloutGroup, Sample } from '../core/schema/sample.ts';
import { ask } from './ask-about-samples.ts';

/** The continuations of a group's solutions. */
export interface Continued {
  /** The continuations [continuations], each `of` the solution whose prefix it continues; without rewards. */
  readonly samples: readonly Sample[];
  /**
   * The complete solutions that they make [steps][continuations]: after the first step, after the second, and so on; empty for a solution that does
   * not parse.
   */
  readonly solutions: readonly (readonly ParseResult<Solution>[])[];
}

/** The text of a solution up to step `count`, this step included. */
export const prefixOf = ({ steps }: Solution, count: number): string =>
  steps
    .slice(0, count)
    .map((step) => `<step>${step}`)
    .join('');

/** Samples `each` continuations by `role` of every prefix of every solution [groups][samples]; all prompts share one batch. */
export async function continuePrefixes(
  context: RoundContext,
  groups: readonly RolloutGroup[],
  solutionsGS: readonly (readonly ParseResult<Solution>[])[],
  { family, role, each }: { readonly family: TaskFamily; readonly role: string; readonly each: number },
): Promise<Continued[][]> {
  const asked = groups.flatMap(({ task, samples }, g) =>
    samples.flatMap(({ id: of }, s) => {
      const solution = solutionsGS[g]![s]!;
      if (!solution.ok) return [];
      return solution.value.steps.map((_, i) => {
        const prefix = prefixOf(solution.value, i + 1);
        return {
          g,
          s,
          question: {
            of,
            key: deriveId(of, 'prefix', i + 1),
            prompt: family.solverPrompt(task) + prefix,
            parse: (text: string) =>
              text === '' ? invalid('off-grammar') : family.parseSolution(task, prefix + text),
          },
        };
      });
    }),
  );
  const answers = await ask(
    context,
    role,
    asked.map(({ question }) => question),
    each,
  );
  const out = groups.map(({ samples }) =>
    samples.map(() => ({ samples: [] as Sample[], solutions: [] as ParseResult<Solution>[][] })),
  );
  for (const [a, { g, s }] of asked.entries()) {
    out[g]![s]!.samples.push(...answers[a]!.map(({ sample }) => sample));
    out[g]![s]!.solutions.push(answers[a]!.map(({ parsed }) => parsed));
  }
  return out;
}

/** The first step [from 1] after which no continuation is right; 0 where there is none. rights [steps][continuations]. */
export const firstLost = (rights: readonly (readonly boolean[])[]): number =>
  rights.findIndex((after) => !after.includes(true)) + 1;
