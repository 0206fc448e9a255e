/** One role answers the prompts of a corpus; nobody judges. The oracle's word goes along for monitors and controls. */
import { deriveId } from '../random.ts';
import type { AdmittedTask, RolledGroup, ScoredGroup } from '../schema/sample.ts';
import type { TaskFamily } from '../tasks/family.ts';
import { type Stage, sampleOf } from './stage.ts';

/** `round.settings.group` answers to each task. */
export async function answerTasks(
  family: TaskFamily,
  role: string,
  stage: Stage,
  tasks: readonly AdmittedTask[],
): Promise<RolledGroup[]> {
  const { round, tokenizer } = stage;
  const prompts = tasks.map(({ group, task }) => ({
    ids: tokenizer.encode(family.solverPrompt(task)),
    sampleIds: Array.from({ length: round.settings.group }, (_, i) => deriveId(group, role, i)),
  }));
  const completions = await stage.generate(role, prompts);
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: completions[t]!.map((completion, i) => {
      const reading = family.readSolution(task.task, tokenizer.decode(completion.ids));
      const outcome = !completion.stopped ? 'cut-off' : reading.ok ? 'ok' : reading.reason;
      return sampleOf(stage, role, prompts[t]!.sampleIds[i]!, prompts[t]!.ids, completion, outcome);
    }),
  }));
}

/** Groups with the oracle's word on every answer, and without judgments or rewards. */
export const checkAnswers = (
  family: TaskFamily,
  { tokenizer }: Pick<Stage, 'tokenizer'>,
  groups: readonly RolledGroup[],
): ScoredGroup[] =>
  groups.map((group) => {
    const answers = group.samples.map(({ ids }) => family.readSolution(group.task, tokenizer.decode(ids)));
    return {
      ...group,
      judgments: [],
      gold: answers.map((answer) => (answer.ok ? family.gold(group.task, answer.value) : null)),
      truth: answers.map((answer) => (answer.ok ? family.truth(group.task, answer.value).right : null)),
    };
  });
