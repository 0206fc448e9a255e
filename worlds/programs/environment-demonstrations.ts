/**
 * Demonstrations of three roles on environments, for a warm start that continues from `programs`. The proposer varies the environment that it is shown or
 * writes another, and much of what it writes fails a layer. The reviewer is exact. The solver slips in a quarter of its answers. Held-out programs are
 * never references.
 */
import type { Random } from '../../core/random.ts';
import { drawUntil } from '../../core/recipe/split.ts';
import type { Demonstration } from '../demonstration.ts';
import { STOP, writeSolution } from '../worked.ts';
import { programSolution } from './demonstrations.ts';
import {
  environments,
  isHeldOutEnvironment,
  isSound,
  mechanicalFault,
  parseEnvironment,
  proposerPromptAfter,
  questionOf,
  randomEnvironment,
  reviewPrompt,
} from './environments.ts';
import { splitTask, taskOf } from './family.ts';
import { drawProgram } from './generate.ts';
import { edited } from './slips.ts';

/** How often it is the part of proposer, reviewer and solver. */
const SHARES = [0.3, 0.25, 0.45] as const;
/** Share of proposals that vary the environment that is shown; of these, share that vary its sampler. */
const VARIED = 0.7;
const SAMPLER_VARIED = 0.3;

/** An environment with one of its programs edited, which may fail the layers; its reference is on the training side. */
function varied(random: Random, text: string): string {
  const { kind, task } = splitTask(text)!;
  const [sampler = '', reference = ''] = task.split(';');
  return drawUntil(
    () =>
      taskOf(
        kind,
        random.bool(SAMPLER_VARIED)
          ? `${edited(random, sampler)};${reference}`
          : `${sampler};${edited(random, reference)}`,
      ),
    (other) => parseEnvironment(other).ok && !isHeldOutEnvironment(other),
  );
}

/** A pair of programs that nobody tried. */
const untried = (random: Random): string => {
  const [sampler, reference] = [drawProgram(random, 1, false), drawProgram(random, 1, false)];
  return taskOf(random.bool() ? 'deduction' : 'abduction', `${sampler.text};${reference.text}`);
};

function propose(random: Random): Demonstration {
  const shown = randomEnvironment(random);
  const proposed = random.bool(VARIED) ? varied(random, shown) : untried(random);
  return { role: 'proposer', prompt: proposerPromptAfter(shown), completion: proposed + STOP };
}

function review(random: Random): Demonstration {
  const sound = random.bool();
  const shown = drawUntil(
    () => (random.bool() ? randomEnvironment(random) : varied(random, randomEnvironment(random))),
    (text) => mechanicalFault(text) === null && isSound(text) === sound,
  );
  return { role: 'judge', prompt: reviewPrompt(shown), completion: (sound ? '<right>' : '<wrong>') + STOP };
}

function solve(random: Random): Demonstration {
  const task = environments.random(random);
  const question = splitTask(questionOf(task))!;
  const solution = programSolution(random, question.kind, question.task);
  return {
    role: 'solver',
    prompt: environments.solverPrompt(task),
    completion: writeSolution(solution) + STOP,
  };
}

export function demonstrateEnvironments(random: Random): Demonstration {
  return [propose, review, solve][random.weighted([...SHARES])]!(random);
}
