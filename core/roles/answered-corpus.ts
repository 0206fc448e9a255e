/** Answers that nobody judges: the oracle's word goes along for monitors and controls. */
import type { RolledGroup, ScoredGroup } from '../schema/sample.ts';
import type { TaskFamily } from '../tasks/family.ts';
import type { Stage } from './stage.ts';

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
