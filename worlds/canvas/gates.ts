/** What a start of the world `canvas` must be able to do: see, and not everything, so that rewards have something to teach. */
import { mean } from '../../core/rl/statistics.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import { canvas, kindOf, promptOf, readTask } from './family.ts';
import { KIND_NAMES } from './questions.ts';

/** The greedy answer to each task; `shown`: the tasks whose canvases are shown. */
async function answersOf(
  { tokenizer, generate }: AskedPolicy,
  tasks: readonly string[],
  shown = tasks,
): Promise<string[]> {
  const made = await generate(
    tasks.map((task, t) => ({ ids: tokenizer.encode(promptOf(task, shown[t]!)), sampleIds: ['greedy'] })),
    { maxNew: canvas.maxNew.solver, temperature: 0, stop: [tokenizer.id(STOP)] },
  );
  return made.map(([completion]) => tokenizer.decode(completion!.ids));
}

const rightOf = (tasks: readonly string[], answers: readonly string[]): number[] =>
  tasks.map((task, t) => Number(answers[t] === readTask(task)!.answer + STOP));

/** The share of tasks whose answer is the most frequent one of their kind: what nobody needs a canvas for. */
function unseen(tasks: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const task of tasks) {
    const { question, answer } = readTask(task)!;
    const key = `${question.kind} ${answer}`;
    counts.set(key, 1 + (counts.get(key) ?? 0));
  }
  const most = KIND_NAMES.map((kind) =>
    Math.max(...[...counts].map(([key, count]) => (key.startsWith(`${kind} `) ? count : 0))),
  );
  return most.reduce((a, b) => a + b) / tasks.length;
}

/** How far the accuracy on other canvases may be above that of the most frequent answers. */
const SLACK = 0.08;

export async function gates(policy: AskedPolicy): Promise<Gate[]> {
  const tasks = canvas.heldOut();
  const right = rightOf(tasks, await answersOf(policy, tasks));
  // The canvas of the next task of another kind, so that nothing of it fits the question.
  const others = tasks.map((_, t) => tasks[(t + 1) % tasks.length]!);
  const exchanged = rightOf(tasks, await answersOf(policy, tasks, others));
  const chance = unseen(tasks);
  return [
    { description: 'held-out questions, greedy', value: mean(right), least: chance + SLACK, most: 0.6 },
    ...KIND_NAMES.map((kind) => ({
      description: `questions of kind ${kind}, greedy`,
      value: mean(right.filter((_, t) => kindOf(tasks[t]!) === kind)),
    })),
    { description: 'the most frequent answer of each kind', value: chance },
    { description: 'with the canvases exchanged, greedy', value: mean(exchanged), most: chance + SLACK },
  ];
}
