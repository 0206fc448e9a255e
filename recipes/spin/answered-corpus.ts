/** Groups of answers without judgments; the oracle's results are recorded for monitors and controls. */
import type { RoundContext } from '../../core/recipe/round-context.ts';
import type { TaskFamily } from '../../core/recipe/task-family.ts';
import type { RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';

/** Groups with the oracle's result on every answer, and without judgments or rewards. */
export const checkAnswers = (
  family: TaskFamily,
  { tokenizer }: Pick<RoundContext, 'tokenizer'>,
  groups: readonly RolloutGroup[],
): ScoredGroup[] =>
  groups.map((group) => {
    const answers = group.samples.map(({ ids }) => family.parseSolution(group.task, tokenizer.decode(ids)));
    return {
      ...group,
      judgments: [],
      answersExact: answers.map((answer) =>
        answer.ok ? family.answerIsExact(group.task, answer.value) : null,
      ),
      solutionsExact: answers.map((answer) =>
        answer.ok ? family.exactJudgment(group.task, answer.value).right : null,
      ),
    };
  });
