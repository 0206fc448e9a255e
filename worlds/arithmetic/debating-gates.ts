/** What a start of debates must do: be wrong often, even greedily, and make use of a solution that it reads, so that rewards for a debate have something to change. */
import { Random } from '../../core/random.ts';
import type { Solution } from '../../core/recipe/task-family.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { aidedPrompt, referenceSolution } from './aided.ts';
import { flawedSolution } from './demonstrations.ts';
import { arithmetic, writeSolution } from './family.ts';

/** Chains that each share is measured on. */
const CHAINS = 500;

export async function gates({ tokenizer, generate }: AskedPolicy): Promise<Gate[]> {
  const tasks = arithmetic.heldOut({ heldOut: true, most: CHAINS });
  /** Greedy answers [tasks]: is it exact? null where it cannot be read. */
  const answered = async (kind: string, promptOf: (task: string) => string) => {
    const made = await generate(
      tasks.map((task) => ({
        ids: tokenizer.encode(promptOf(task)),
        sampleIds: [`gate/${kind}/${task}`],
      })),
      { maxNew: arithmetic.maxNew.solver, temperature: 0, stop: [tokenizer.id(arithmetic.stop)] },
    );
    return made.map(([completion], t) => {
      const said = arithmetic.parseSolution(tasks[t]!, tokenizer.decode(completion!.ids));
      return said.ok ? arithmetic.answerIsExact(tasks[t]!, said.value) : null;
    });
  };
  const beside = (kind: string, solutionOf: (task: string) => Solution) =>
    answered(kind, (task) => aidedPrompt(task, writeSolution(solutionOf(task))));
  const exact = (some: readonly (boolean | null)[]) => mean(some.map((right) => Number(right === true)));
  const alone = await answered('alone', (task) => arithmetic.solverPrompt(task));
  const besideRight = await beside('right', referenceSolution);
  const besideWrong = await beside('wrong', (task) => flawedSolution(new Random(`gate/${task}`), task));
  return [
    {
      description: 'greedy answers that can be read',
      value: mean(alone.map((right) => Number(right !== null))),
      least: 0.95,
    },
    { description: 'exact greedy answers', value: exact(alone), least: 0.3, most: 0.6 },
    { description: 'exact beside a right solution', value: exact(besideRight), least: 0.6 },
    { description: 'exact beside a wrong solution', value: exact(besideWrong), least: 0.05, most: 0.5 },
  ];
}
